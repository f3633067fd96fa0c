//! Somebody has more to say.

use fleet_testkit::clis::Cli;
use fleet_testkit::model::{CONTENT, USAGE};
use fleet_testkit::wait_until;

use crate::stage::{BOUND, Stage};

/// Said to an agent that is spoken with: at once, in the same run.
pub(crate) fn told_while_it_works(cli: Cli) {
    is_told(cli, cli.name());
}

/// The same by the Agent Client Protocol.
pub(crate) fn told_while_it_works_by_acp(cli: Cli) {
    is_told(cli, &format!("{}-acp", cli.name()));
}

fn is_told(cli: Cli, agent: &str) {
    let Some(stage) = Stage::new(&[(cli, "slowx5")]) else { return };
    stage.server.switch_at(cli.name(), 2, "multi");
    let (task, _runner) = (stage.add(agent, "Say something", 0), stage.runner(&[]));
    wait_until(BOUND, "a question", || !stage.questions(cli).is_empty());
    let said = stage.fleet.json(&["prompt", &task, "Now write TARGET=two.txt"]);
    assert_eq!(said["reception"], "live", "{said}");
    wait_until(BOUND, "the task is done", || stage.status(&task) == "done");
    let runs = stage.runs_of(&task);
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(stage.committed(&task, "two.txt"), CONTENT);
    let shown = stage.fleet.json(&["task", "show", &task]);
    assert_eq!(shown["prompts"][0]["run"], runs[0]["id"], "{}", shown["prompts"]);
    assert_eq!(shown["prompts"][0]["state"], "seen", "{}", shown["prompts"]);
    let [delivered, seen] =
        ["delivered_at", "seen_at"].map(|name| shown["prompts"][0][name].as_str().unwrap());
    assert!(delivered <= seen, "{delivered} {seen}");
}

/// Said to a task that is done: its conversation goes on, and so does its branch.
pub(crate) fn told_after_the_end(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let task = stage.add(cli.name(), "Write TARGET=one.txt", 0);
    stage.work();
    let said = stage.fleet.json(&["prompt", &task, "Now write TARGET=two.txt"]);
    assert_eq!(said["reception"], "reopened", "{said}");
    stage.work();
    let runs = stage.runs_of(&task);
    assert_eq!((runs.len(), &runs[0]["state"]), (2, &"succeeded".into()), "{runs:?}");
    assert_eq!(runs[0]["session"], runs[1]["session"]);
    for file in ["one.txt", "two.txt"] {
        assert_eq!(stage.committed(&task, file), CONTENT);
    }
    let logs = stage.fleet.ok(&["logs", &task]);
    assert!(logs.contains("This is answer 2"), "the model knows of the first: {logs}");
    for name in ["input_tokens", "output_tokens", "micro_usd"] {
        let [second, first] = [0, 1].map(|at| runs[at][name].as_u64().unwrap());
        // Money is rounded.
        assert!(second.abs_diff(first) <= 1, "nothing is counted twice: {runs:?}");
    }
    assert!(runs[0]["input_tokens"].as_u64().unwrap() >= 2 * USAGE.input, "{}", runs[0]);
}
