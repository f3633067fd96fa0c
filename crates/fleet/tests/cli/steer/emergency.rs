//! Pausing the queue, and stopping every agent at once.

use fleet_testkit::wait_until;

use super::{SOON, Yard};

#[test]
fn nothing_starts_while_the_queue_is_paused() {
    let mut yard = Yard::new();
    yard.fleet.ok(&["pause", "--why", "lunch"]);
    let task = yard.add_staying("login", "write a x");
    yard.start_runner();
    let why = yard.fleet.json(&["why", &task]);
    assert_eq!(why["next"], "nothing: everything is paused: lunch (`fleet unpause`)", "{why}");
    let list = yard.fleet.json(&["list"]);
    assert_eq!(
        (list["paused"][0]["why"].as_str(), list["runs"].as_array().unwrap().len()),
        (Some("lunch"), 0)
    );
    assert_eq!(
        yard.fleet.json(&["pause", "--project", ".", "--agent", "demo"])["paused"][1]["agent"],
        "demo"
    );
    let paused = yard.fleet.json(&["unpause"]);
    assert_eq!((paused["changed"].as_bool(), paused["paused"].as_array().unwrap().len()), (Some(true), 1));
    assert_eq!(yard.fleet.json(&["status"])["queue_paused"][0]["agent"], "demo");
    yard.fleet.ok(&["unpause", "--project", ".", "--agent", "demo"]);
    yard.at_work(&["login"]);
    assert_eq!(yard.fleet.json(&["unpause"])["changed"], false);
}

#[test]
fn an_emergency_stop_freezes_every_agent_and_ends_them_with_their_work_saved() {
    let mut yard = Yard::new();
    let first = yard.add_staying("one", "write a x");
    let second = yard.add_staying("two", "write b y");
    yard.start_runner();
    yard.at_work(&["one", "two"]);
    let frozen = yard.fleet.json(&["stop", "--all-agents"]);
    assert_eq!((frozen["frozen"].as_u64(), frozen["unconfirmed"].as_array().unwrap().len()), (Some(2), 0));
    let third = yard.add_staying("three", "write c z");
    assert_eq!(yard.fleet.json(&["status"])["frozen"], true);
    let why = yard.fleet.json(&["why", &first]);
    assert!(why["next"].as_str().unwrap().contains("`fleet unfreeze`"), "{why}");
    // Neither needs a runner.
    yard.stop_runner();
    assert_eq!(yard.fleet.json(&["kill", "one", "--yes", "--wait", "1m"])["killed"][0]["outcome"], "stopped");
    assert_eq!(yard.file("one", "a"), "x", "what a frozen agent had written is kept");
    assert_eq!(yard.fleet.json(&["unfreeze"])["continued"], 1);
    yard.start_runner();
    yard.at_work(&["three"]);
    yard.fleet.ok(&["stop", "--all-agents", "--freeze"]);
    let ended = yard.fleet.json(&["stop", "--all-agents", "--end"]);
    assert_eq!(ended["ended"], 2, "{ended}");
    for (task, (branch, file)) in [(&second, ("two", "b")), (&third, ("three", "c"))] {
        wait_until(SOON, "it is back in the queue", || yard.task(task)["status"] == "ready");
        assert!(!yard.file(branch, file).is_empty());
    }
    assert_eq!(yard.fleet.json(&["status"])["frozen"], false);
    assert_eq!(yard.fleet.json(&["unfreeze"])["changed"], false);
    assert_eq!(yard.fleet.json(&["unpause"])["paused"].as_array().unwrap().len(), 0);
}
