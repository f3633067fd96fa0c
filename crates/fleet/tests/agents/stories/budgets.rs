//! Agents that would go on for ever and may use only so much.

use fleet_testkit::clis::Cli;
use fleet_testkit::wait_until;
use serde_json::Value;

use crate::stage::{BOUND, Stage, WRITE};

/// Less than two answers of the model, whichever agent asks.
const TOKENS: u64 = 2_000;
/// What an answer takes at most, in all protocols.
const MOST_PER_ANSWER: u64 = 2_000;

fn add(stage: &Stage, cli: Cli, more: &[&str]) -> String {
    let task = [&["task", "add", "-q", WRITE, "--agent", cli.name(), "--retries", "0"], more].concat();
    stage.fleet.ok(&task).trim_end().to_owned()
}

fn tokens(run: &Value) -> u64 {
    ["input_tokens", "output_tokens"].iter().map(|name| run[*name].as_u64().unwrap()).sum()
}

/// In the middle of its turn, of which some tell nothing in their output.
pub(crate) fn stopped_at_its_tokens(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "steps")]) else { return };
    let task = add(&stage, cli, &["--limit", &format!("tokens={TOKENS}"), "--limit", "time=2m"]);
    stage.work();
    let run = stage.run_of(&task);
    assert_eq!(run["reason"], "over_budget", "{run}");
    // A step takes a second, and the machine may be busy: what counts is that it is not minutes later.
    let used = tokens(&run);
    assert!((TOKENS + 1..TOKENS + 15 * MOST_PER_ANSWER).contains(&used), "{run}");
    assert_eq!(stage.status(&task), "failed");
}

/// Nobody knows what the model costs, so that it is taken for the most expensive one, and people are told.
pub(crate) fn stopped_at_the_highest_price(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "steps")]) else { return };
    let other =
        |usd: &str| add(&stage, cli, &["--model", "other-model", "--limit", usd, "--limit", "time=2m"]);
    let (rich, poor) = (other("usd=50"), other("usd=0.03"));
    let _runner = stage.runner(&[]);
    let warned = || {
        let status = stage.fleet.json(&["status"]);
        let warnings = status["warnings"].as_array().unwrap().clone();
        warnings
            .into_iter()
            .find(|warning| warning["text"].to_string().contains("`other-model` is not known"))
    };
    wait_until(BOUND, "a warning", || warned().is_some());
    assert!(warned().unwrap()["text"].to_string().contains("75.00 USD out"), "{:?}", warned());
    stage.wait_for_end(&poor);
    let run = stage.run_of(&poor);
    assert_eq!(run["reason"], "over_budget", "{run}");
    let cost = run["micro_usd"].as_u64().unwrap();
    assert!((30_001..600_000).contains(&cost), "{run}");
    let why = stage.fleet.json(&["why", &poor]);
    assert!(why["what"].as_str().unwrap().contains("highest known price"), "{why}");
    assert!(why["evidence"].to_string().contains("prices.toml"), "{why}");
    assert_eq!(stage.run_of(&rich)["state"], "running");
}
