//! One way to name tasks, whatever is done to them: ids and their ends, branches, batches, patterns.

use serde_json::Value;

use super::super::support::error;
use super::Yard;

fn states(yard: &Yard) -> Vec<(String, String)> {
    let list = yard.fleet.json(&["task", "list", "--all"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<_> = list["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (text(&task["branch"]), text(&task["state"])))
        .collect();
    all.sort();
    all
}

fn state(yard: &Yard, branch: &str) -> String {
    states(yard).into_iter().find(|(name, _)| name == branch).unwrap().1
}

#[test]
fn the_end_of_an_id_is_enough_everywhere() {
    let yard = Yard::new();
    let task = yard.add("login", "write a x");
    yard.finish_all();
    let (run, short) = (yard.run_of(&task), &task[10..]);
    assert!(yard.fleet.ok(&["list", "--all"]).contains(short));
    assert!(yard.fleet.ok(&["task", "list", "--all"]).contains(short));
    for name in [short, &short.to_uppercase(), &run[10..]] {
        for command in [&["show"][..], &["why"], &["logs"], &["diff"], &["task", "show"]] {
            yard.fleet.ok(&[command, &[name]].concat());
        }
    }
    assert_eq!(yard.fleet.json(&["show", short])["id"], run.as_str());
    yard.repo.git(&["branch", "-D", "login"]);
    yard.fleet.ok(&["undo", short]);
    assert!(yard.has_branch("login"));
    let (code, ..) = error(&yard.fleet.fail(3, &["show", "zzzzz", "--json"]));
    assert_eq!(code, "run-not-found");
}

/// An agent may choose the name of a branch.
#[test]
fn a_branch_that_is_called_like_an_id_takes_nothing_over() {
    let yard = Yard::new();
    let task = yard.add("login", "write a x");
    let short = &task[10..];
    yard.fleet.ok(&["task", "add", "decoy", "--branch", short, "--agent", "demo"]);
    for command in
        [&["task", "cancel", short][..], &["kill", short, "--yes"], &["show", short], &["prompt", short, "x"]]
    {
        let refused = yard.fleet.fail(2, &[command, &["--json"]].concat());
        assert_eq!(error(&refused).0, "id-ambiguous", "{command:?}");
    }
    yard.fleet.ok(&["task", "cancel", &task]);
    assert_eq!((state(&yard, "login"), state(&yard, short)), ("cancelled".into(), "queued".into()));
}

#[test]
fn a_branch_of_another_repository_is_not_meant() {
    let yard = Yard::new();
    let task = yard.add("login", "write a x");
    yard.finish_all();
    let other = fleet_testkit::repo::Repo::init();
    let there = yard.fleet.cwd(other.path());
    for command in [&["clean", "login", "--all", "--yes"][..], &["task", "delete", "login", "--yes"]] {
        there.fail(3, &[command, &["--json"]].concat());
    }
    assert!(yard.has_branch("login"));
    there.ok(&["task", "delete", &task, "--yes"]);
}

#[test]
fn a_pattern_means_branches_and_no_ids() {
    let yard = Yard::new();
    yard.add("login", "write a x");
    let refused = yard.fleet.fail(3, &["task", "cancel", "t*", "--json"]);
    assert_eq!(error(&refused).0, "nothing-matched");
    assert_eq!(state(&yard, "login"), "queued");
}

#[test]
fn verbs_take_patterns_and_batches_of_what_they_can_act_on() {
    let yard = Yard::new();
    let prompt = "```demo\nwrite a x\nexit 1\n```";
    let launched = yard.fleet.json(&["fanout", "2", "bad", "-p", prompt, "--agent", "demo", "--detach"]);
    let batch = launched["batch"].as_str().unwrap().to_owned();
    yard.add("good", "write b x");
    yard.finish_all();
    yard.add("later", "write c x");
    yard.fleet.ok(&["task", "hold", "la*"]);
    assert_eq!(state(&yard, "later"), "held");
    let refused = yard.fleet.fail(3, &["task", "hold", "*", "--json"]);
    assert_eq!(error(&refused).0, "nothing-matched");
    yard.fleet.ok(&["task", "release", "*"]);
    for name in ["*", batch.as_str(), &batch[10..]] {
        yard.fleet.ok(&["task", "retry", name]);
        let expected = [("bad-A", "queued"), ("bad-B", "queued"), ("good", "done"), ("later", "queued")];
        assert_eq!(
            states(&yard),
            expected.map(|(name, state)| (name.to_owned(), state.to_owned())),
            "{name}"
        );
        yard.fleet.ok(&["task", "cancel", "bad-*"]);
        assert_eq!((state(&yard, "bad-A"), state(&yard, "later")), ("cancelled".into(), "queued".into()));
    }
    yard.fleet.ok(&["task", "retry", &batch]);
    let killed = yard.fleet.json(&["kill", &batch[10..], "later", "--yes"]);
    assert_eq!(killed["killed"].as_array().unwrap().len(), 3, "{killed}");
    yard.fleet.ok(&["task", "delete", "bad-*", "--yes"]);
    assert_eq!(states(&yard).len(), 2);
}

#[test]
fn a_clean_up_takes_only_what_is_named() {
    let yard = Yard::new();
    for branch in ["login-A", "login-B", "other"] {
        yard.add(branch, "write a x");
    }
    yard.finish_all();
    let shown = yard.fleet.ok(&["clean", "login-*"]);
    assert!(shown.contains("login-A") && !shown.contains("other"), "{shown}");
    yard.fleet.ok(&["clean", "login-*", "--all", "--yes"]);
    assert!(!yard.has_branch("login-A") && !yard.has_branch("login-B") && yard.has_branch("other"));
    let refused = yard.fleet.fail(3, &["clean", "logn-*", "--json"]);
    assert_eq!(error(&refused).0, "nothing-matched");
}
