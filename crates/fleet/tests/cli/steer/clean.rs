//! `fleet clean`: what has landed goes, everything else stays.

use std::collections::BTreeMap;

use fleet_testkit::wait_until;
use serde_json::Value;

use super::{SOON, Yard};

/// The reasons by branch.
fn reasons(list: &Value) -> BTreeMap<&str, &str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| (item["branch"].as_str().unwrap_or("-"), item["why"].as_str().unwrap())).collect()
}

/// Work in every state in which a person can leave it.
fn scene() -> Yard {
    let yard = Yard::new();
    for (branch, script) in [
        ("merged", "write m x"),
        ("open", "write o x\\ny"),
        ("touched", "write t x"),
        ("current", "write c x"),
        ("failed", "write f x\nexit 1"),
        ("unchanged", "fail nothing to do"),
        ("deleted", "write d x"),
    ] {
        yard.add(branch, script);
    }
    let again = yard.add("again", "write a x\nexit 1");
    yard.fleet.ok(&["task", "edit", &again, "--retries", "3"]);
    yard.finish_all();
    // A branch that nothing was done on goes with its run, unless that one crashed.
    assert!(!yard.has_branch("unchanged"));
    yard.repo.git(&["branch", "unchanged", "main"]);
    yard.repo.git(&["merge", "--quiet", "--no-ff", "--no-edit", "merged"]);
    yard.repo.git(&["branch", "--quiet", "-D", "deleted"]);
    yard.repo.git(&["switch", "--quiet", "touched"]);
    yard.repo.write("mine", "mine");
    yard.repo.commit("mine");
    yard.repo.git(&["branch", "user", "main"]);
    yard.repo.git(&["switch", "--quiet", "main"]);
    let place = yard.sign("worktree").display().to_string();
    yard.repo.git(&["worktree", "add", "--quiet", &place, "current"]);
    yard
}

#[test]
fn only_what_has_landed_goes() {
    let yard = scene();
    let plan = yard.fleet.json(&["clean"]);
    assert_eq!(plan["dry_run"], true);
    let remove = BTreeMap::from([
        ("-", "it has no branch"),
        ("merged", "merged into HEAD"),
        ("unchanged", "nothing was changed"),
    ]);
    assert_eq!(reasons(&plan["removed"]), remove);
    let kept = reasons(&plan["kept"]);
    assert_eq!(kept["open"], "not landed");
    assert_eq!(kept["failed"], "not landed");
    assert_eq!(kept["touched"], "not landed, and has later commits");
    assert_eq!(kept["again"], "its task is queued");
    assert!(kept["current"].starts_with("checked out at "), "{kept:?}");
    assert_eq!(kept.len(), 5, "{kept:?}");
    let shown = yard.fleet.run(&["clean"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    let said = shown.stdout.trim();
    assert!(said.contains("merged into HEAD") && said.contains("not landed"), "{said}");
    assert!(said.ends_with("nothing was removed; `--yes` removes it"), "{said}");
    assert!(yard.has_branch("merged"), "looking changes nothing");
    let before = yard.names("runs").len();
    let done = yard.fleet.json(&["clean", "--yes"]);
    assert_eq!((done["dry_run"].as_bool(), reasons(&done["removed"])), (Some(false), remove));
    for branch in ["open", "touched", "current", "failed", "again", "user", "main"] {
        assert!(yard.has_branch(branch), "{branch} stays");
    }
    for branch in ["merged", "unchanged"] {
        assert!(!yard.has_branch(branch), "{branch} is gone");
    }
    assert_eq!(yard.names("runs").len(), before - 3);
    wait_until(SOON, "an empty trash", || yard.names("worktrees/.trash").is_empty());
    let again = yard.fleet.ok(&["clean", "--yes"]);
    assert!(again.starts_with("nothing to remove; kept:"), "{again}");
}

#[test]
fn everything_that_agents_left_goes_on_demand_and_comes_back() {
    let yard = scene();
    let open = yard.tip("open").unwrap();
    let done = yard.fleet.json(&["clean", "--all", "--yes"]);
    let removed = reasons(&done["removed"]);
    assert_eq!((removed["open"], removed["failed"]), ("not landed", "not landed"), "{removed:?}");
    for branch in ["touched", "current", "again", "user", "main"] {
        assert!(yard.has_branch(branch), "{branch} stays");
    }
    assert!(!yard.has_branch("open") && !yard.has_branch("failed"));
    yard.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    yard.repo.git(&["gc", "--quiet", "--prune=now"]);
    yard.fleet.ok(&["undo", "open"]);
    assert_eq!(yard.tip("open"), Some(open));
    yard.fleet.ok(&["undo", "failed"]);
    assert_eq!(yard.file("failed", "f"), "x");
}

#[test]
fn content_that_landed_by_other_commits_counts_and_live_runs_do_not() {
    let mut yard = Yard::new();
    yard.add("squashed", "write s one\ncommit First\nwrite s two");
    yard.finish_all();
    let tip = yard.tip("squashed").unwrap();
    yard.repo.git(&["merge", "--quiet", "--squash", "squashed"]);
    yard.repo.commit("all at once");
    yard.add_staying("live", "say nothing yet");
    yard.start_runner();
    yard.at_work(&["live"]);
    let done = yard.fleet.json(&["clean", "--all", "--yes"]);
    assert_eq!(reasons(&done["removed"]), BTreeMap::from([("squashed", "HEAD has the same content")]));
    assert_eq!(reasons(&done["kept"]), BTreeMap::from([("live", "its agent is running")]));
    yard.fleet.ok(&["undo", "squashed"]);
    assert_eq!(yard.tip("squashed"), Some(tip), "its own commits were kept");
}

#[test]
fn a_task_goes_without_the_folders_of_another_that_had_its_branch_before() {
    let yard = Yard::new();
    let first = yard.add("same", "write a x");
    yard.finish_all();
    yard.repo.git(&["branch", "--quiet", "-D", "same"]);
    let second = yard.add("same", "write b y");
    yard.finish_all();
    let (before, after) = (yard.run_of(&first), yard.run_of(&second));
    let tasks = |answer: &Value| {
        let removed = answer["removed"].as_array().unwrap().iter();
        removed.map(|item| item["task"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let done = yard.fleet.json(&["clean", &second, "--all", "--yes"]);
    assert_eq!(tasks(&done), std::slice::from_ref(&second));
    assert_eq!(yard.names("runs"), std::slice::from_ref(&before), "{after} is gone");
    let done = yard.fleet.json(&["clean", &first, "--yes"]);
    assert_eq!(tasks(&done), [first]);
    assert!(yard.names("runs").is_empty());
}

#[test]
fn nothing_is_there_to_clean() {
    let yard = Yard::new();
    assert_eq!(yard.fleet.ok(&["clean"]).trim(), "nothing to remove");
    yard.add("waits", "hang");
    assert_eq!(yard.fleet.json(&["clean", "--all", "--yes"])["removed"].as_array().unwrap().len(), 0);
    assert_eq!(yard.fleet.cwd(yard.fleet.user_home()).run(&["clean"]).code, 3);
}
