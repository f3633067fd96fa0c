//! `fleet keep`: one of several attempts stays, the others go, and nothing is lost.

use super::super::support::error;
use super::Yard;

fn fanout(yard: &Yard, name: &str, script: &str) {
    let prompt = format!("Do it\n\n```demo\n{script}\n```");
    yard.fleet.ok(&["fanout", "3", name, "-p", &prompt, "--agent", "demo", "--detach"]);
}

#[test]
fn the_others_of_a_fan_out_go_and_come_back() {
    let yard = Yard::new();
    fanout(&yard, "login", "write a x");
    yard.add("alone", "write b y");
    yard.finish_all();
    let dropped = yard.tip("login-A").unwrap();
    let unasked = yard.fleet.fail(2, &["keep", "login-B"]);
    assert!(unasked.stderr.contains("`--yes` does it") && yard.has_branch("login-A"), "{unasked:?}");
    let done = yard.fleet.ok(&["keep", "login-B", "--yes"]);
    for line in ["kept login-B", "removed login-A", "removed login-C", "`git merge login-B`", "`fleet undo "]
    {
        assert!(done.contains(line), "{line}: {done}");
    }
    for (branch, stays) in [("login-A", false), ("login-B", true), ("login-C", false), ("alone", true)] {
        assert_eq!(yard.has_branch(branch), stays, "{branch}");
    }
    yard.fleet.ok(&["undo", "login-A"]);
    assert_eq!(yard.tip("login-A"), Some(dropped));
}

#[test]
fn those_at_work_are_stopped_and_their_work_is_kept() {
    let mut yard = Yard::new();
    fanout(&yard, "race", "write a x\nhang");
    yard.start_runner();
    let running = || {
        let list = yard.fleet.json(&["list"]);
        list["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "running").count() == 3
    };
    fleet_testkit::wait_until(super::SOON, "three agents", running);
    let plan = yard.fleet.json(&["keep", "race-A", "--yes"]);
    assert_eq!((&plan["dry_run"], plan["stopped"].as_array().unwrap().len()), (&false.into(), 2));
    let list = yard.fleet.json(&["list"]);
    let left: Vec<&str> =
        list["runs"].as_array().unwrap().iter().map(|run| run["branch"].as_str().unwrap()).collect();
    assert_eq!(left, ["race-A"]);
    assert!(!yard.has_branch("race-B") && !yard.has_branch("race-C"));
}

#[test]
fn different_prompts_are_not_dropped_for_each_other() {
    let yard = Yard::new();
    yard.fleet.ok(&["multi", "one:Write one", "two:Write two", "--agent", "demo", "--detach"]);
    let alone = yard.add("alone", "write b y");
    for name in ["one", alone.as_str()] {
        let refused = yard.fleet.fail(3, &["keep", name, "--yes", "--json"]);
        assert_eq!(error(&refused).0, "nothing-matched", "{name}");
    }
}
