//! All goes well.

use fleet_testkit::clis::Cli;
use fleet_testkit::model::{CONTENT, USAGE};
use serde_json::Value;

use crate::stage::{Stage, WRITE};

/// From `fleet task add` to a committed branch, with what it took.
pub(crate) fn writes_and_commits(cli: Cli) {
    let Some((stage, run)) = works(cli, cli.name()) else { return };
    assert_eq!(tokens(&run), per_answer(cli).map(|tokens| 2 * tokens), "{run}");
    let cost = run["micro_usd"].as_u64().unwrap();
    match cli {
        // It has its own list, which changes with its versions.
        Cli::Claude => assert!((1_000..100_000).contains(&cost), "{run}"),
        _ => assert!(cost.abs_diff(2 * cost_of_answer(cli)) <= 2, "{run}"),
    }
    assert_eq!(stage.questions(cli).len(), 2, "the prompt, and the tool's answer");
}

/// It calls `fleet` in its shell. The sandbox of codex lets it connect to nothing, which it is told, and its final message
/// does as well.
pub(crate) fn speaks_to_its_keeper(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "fleet")]) else { return };
    let task = stage.fleet.ok(&["task", "add", "-q", WRITE, "--agent", cli.name()]).trim_end().to_owned();
    stage.work();
    let run = stage.run_of(&task);
    assert_eq!((&run["state"], &run["task_state"]), (&"succeeded".into(), &"done".into()), "{run}");
    let told = stage.committed(&task, "out.txt");
    let events = stage.fleet.ok(&["events", "--json"]);
    if cli == Cli::Codex && cfg!(target_os = "linux") {
        assert!(told.contains("codefleet cannot be reached from here"), "{told}");
        assert!(told.contains("say it in your final message"), "{told}");
    } else {
        assert!(told.contains("noted") && events.contains("from the model"), "{told}: {events}");
    }
}

/// The same by the Agent Client Protocol, with an agent that only the configuration knows.
pub(crate) fn writes_and_commits_by_acp(cli: Cli) {
    let Some((_, run)) = works(cli, &format!("{}-acp", cli.name())) else { return };
    // By the protocol, opencode tells the tokens of the last answer only, and gemini not what was thought.
    let told = if cli == Cli::Opencode { 1 } else { 2 };
    assert_eq!(tokens(&run), [USAGE.input, USAGE.output].map(|tokens| told * tokens), "{run}");
}

fn works(cli: Cli, agent: &str) -> Option<(Stage, Value)> {
    let stage = Stage::new(&[(cli, "ok")])?;
    let task = stage.fleet.ok(&["task", "add", "-q", WRITE, "--agent", agent]).trim_end().to_owned();
    stage.work();
    let run = stage.run_of(&task);
    assert_eq!((&run["state"], &run["task_state"]), (&"succeeded".into(), &"done".into()), "{run}");
    assert_eq!(stage.committed(&task, "out.txt"), CONTENT);
    assert!(run["session"].as_str().is_some_and(|session| session.len() > 8), "{run}");
    let logs = stage.fleet.ok(&["logs", &task]);
    assert!(logs.contains("I will do that now."), "{logs}");
    assert!(logs.contains("out.txt") && logs.contains("This is answer 1"), "{logs}");
    Some((stage, run))
}

pub(super) fn tokens(run: &Value) -> [u64; 2] {
    ["input_tokens", "output_tokens"].map(|name| run[name].as_u64().unwrap())
}

/// What the model read and wrote for one answer: in Anthropic's protocol what came from the cache is counted beside the
/// rest, and in Google's what was thought.
pub(super) fn per_answer(cli: Cli) -> [u64; 2] {
    match cli {
        Cli::Claude => [USAGE.input + USAGE.cache_read + USAGE.cache_write, USAGE.output],
        Cli::Codex | Cli::Opencode => [USAGE.input, USAGE.output],
        Cli::Gemini => [USAGE.input, USAGE.output + USAGE.reasoning],
    }
}

/// In millionths of a dollar, by the prices of the stage.
pub(super) fn cost_of_answer(cli: Cli) -> u64 {
    let [_, output] = per_answer(cli);
    3 * (USAGE.input - USAGE.cache_read) + 3 * USAGE.cache_read / 10 + 15 * output
}
