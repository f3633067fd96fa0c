//! What agents may use, and what counts of those that are stopped.

use fleet_testkit::wait_until;
use serde_json::Value;

use super::{SOON, Yard};

fn run_of(yard: &Yard, branch: &str) -> Value {
    yard.fleet.json(&["show", branch])
}

/// Many agents tell what they use only now and then, and then it is more than what was put aside for them.
#[test]
fn an_agent_that_uses_much_at_once_is_not_stopped_while_there_is_enough() {
    let mut yard = Yard::new();
    yard.fleet = yard.fleet.env("FLEET_BUDGET_DAY_USD", "20");
    yard.add("leaps", "usage 1000 10 2.50\nsleep 500ms\nwrite a x");
    yard.finish_all();
    let run = run_of(&yard, "leaps");
    assert_eq!((&run["state"], &run["micro_usd"]), (&"succeeded".into(), &2_500_000.into()), "{run}");
    let script = "```demo\nwrite a x\nusage 1000 10 2.50\nhang\n```";
    let args = ["--agent", "demo", "--branch", "bounded", "--limit", "usd=2", "-d", script];
    yard.fleet.ok(&[&["task", "add", "-q", "bounded"], &args[..]].concat());
    yard.finish_all();
    let run = run_of(&yard, "bounded");
    assert_eq!((&run["reason"], &run["state"]), (&"over_budget".into(), &"failed".into()), "{run}");
    yard.add("much", "write a x\nusage 1000 10 16\nhang");
    yard.finish_all();
    let run = run_of(&yard, "much");
    assert_eq!((&run["reason"], &run["micro_usd"]), (&"over_budget".into(), &16_000_000.into()), "{run}");
    assert_eq!(yard.fleet.json(&["status"])["spent_today"], 21_000_000, "all of it, once");
}

/// Nobody can hold it to what it does not tell.
#[test]
fn a_limit_that_could_not_hold_is_told() {
    let yard = Yard::new();
    for (branch, steps) in [("silent", "write a x"), ("tells", "write a x\nusage 1000 10 0")] {
        let script = format!("```demo\n{steps}\n```");
        let args = ["--agent", "demo", "--branch", branch, "--limit", "tokens=9k", "-d", &script];
        yard.fleet.ok(&[&["task", "add", "-q", branch], &args[..]].concat());
    }
    yard.finish_all();
    let is_warned =
        |branch| yard.fleet.json(&["why", branch])["evidence"].to_string().contains("could not be enforced");
    assert_eq!((is_warned("silent"), is_warned("tells")), (true, false));
}

/// Its work is over; what is left is a process that does not end.
#[test]
fn an_agent_that_is_through_is_not_tried_again_because_of_a_shutdown() {
    let mut yard = Yard::new();
    let task = yard.add_staying("through", "write a x\nraw {\"type\":\"result\",\"text\":\"It is done.\"}");
    yard.start_runner();
    yard.at_work(&["through"]);
    wait_until(SOON, "what it said", || yard.fleet.ok(&["logs", "through"]).contains("It is done."));
    yard.fleet.ok(&["stop", "--agents"]);
    wait_until(SOON, "its end", || yard.task(&task)["state"] == "done");
    assert_eq!(yard.file("through", "a"), "x");
}
