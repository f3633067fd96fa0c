//! `fleet kill` and `fleet task cancel`.

use std::fs;

use fleet_testkit::vault::assert_only_branches;
use fleet_testkit::wait_until;

use super::super::support::error;
use super::{SOON, Yard, is_alive, signal};

#[test]
fn what_an_agent_had_written_is_kept_to_the_byte() {
    let mut yard = Yard::new();
    let script =
        "write a.txt one\ncommit First\nwrite a.txt two\\nthree\nwrite \"new file\" x\ndelete README.md";
    let task = yard.add_staying("login", script);
    let queued = yard.add("later", "hang");
    yard.fleet.ok(&["task", "hold", &queued]);
    yard.start_runner();
    yard.at_work(&["login"]);
    let killed = yard.fleet.json(&["kill", "login", "--yes", "--wait", "1m"]);
    let [one] = killed["killed"].as_array().unwrap().as_slice() else { panic!("{killed}") };
    assert_eq!(
        (one["outcome"].as_str(), one["branch"].as_str()),
        (Some("stopped"), Some("login")),
        "{killed}"
    );
    assert_eq!(one["run"].as_str(), Some(yard.run_of(&task).as_str()));
    assert_eq!(yard.file("login", "a.txt"), "two\nthree");
    assert_eq!(yard.file("login", "new file"), "x");
    assert_eq!(yard.repo.git(&["ls-tree", "--name-only", "login"]), "a.txt\nnew file");
    assert_eq!(yard.repo.git(&["log", "--format=%s", "login"]), "wip: login\nFirst\nfirst");
    let shown = yard.task(&task);
    assert_eq!(
        (shown["state"].as_str(), shown["runs"][0]["state"].as_str()),
        (Some("cancelled"), Some("cancelled"))
    );
    assert_eq!(yard.task(&queued)["state"], "held", "nothing else was touched");
    assert_eq!(yard.marks(), 0);
    assert_eq!(yard.repo.git(&["status", "--porcelain"]), "", "the user's own checkout");
}

#[test]
fn patterns_stop_agents_and_cancel_tasks() {
    let mut yard = Yard::new();
    let first = yard.add_staying("fan-A", "write a x");
    let second = yard.add_staying("fan-B", "write b x");
    let other = yard.add_staying("other", "write c x");
    yard.start_runner();
    yard.at_work(&["fan-A", "fan-B", "other"]);
    let queued = yard.fleet.ok(&["task", "add", "-q", "waits", "--after", &first, "--branch", "fan-C"]);
    let queued = queued.trim_end();
    let refused = yard.fleet.fail(2, &["kill", "fan-*"]);
    assert!(refused.stderr.contains("no terminal to confirm"), "{}", refused.stderr);
    assert!(
        ["fan-A", "fan-B", "fan-C"].iter().all(|name| refused.stderr.contains(name)),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("other"), "{}", refused.stderr);
    let said = yard.fleet.ok(&["kill", "fan-*", "--yes", "--wait", "1m"]);
    assert_eq!(said.lines().filter(|line| line.contains("  stopped  ")).count(), 2, "{said}");
    assert_eq!(said.lines().filter(|line| line.contains("  cancelled  ")).count(), 1, "{said}");
    for task in [first.as_str(), &second, queued] {
        assert_eq!(yard.task(task)["state"], "cancelled");
    }
    assert_eq!(yard.task(&other)["state"], "running");
    let run = yard.run_of(&other);
    let killed = yard.fleet.json(&["kill", &run[10..], "-y"]);
    assert_eq!(killed["killed"][0]["outcome"], "stopped", "by the end of the run's id: {killed}");
}

#[test]
fn an_agent_that_does_not_want_to_end_is_made_to() {
    let mut yard = Yard::new();
    let child = yard.sign("child");
    let script = format!(
        "ignore TERM\nignore INT\nignore HUP\nfork session double ignore pid={} 5m\nwait-for {}\nwrite a x",
        child.display(),
        child.display()
    );
    yard.add_staying("deaf", &script);
    yard.start_runner();
    yard.at_work(&["deaf"]);
    let child = fs::read_to_string(child).unwrap();
    assert!(is_alive(&child));
    assert!(yard.fleet.ok(&["kill", "deaf", "--yes", "--wait", "1m"]).contains("its work is on deaf"));
    assert!(!is_alive(&child), "what it left behind has ended, too");
    assert_eq!(yard.file("deaf", "a"), "x");
}

#[test]
fn a_run_without_its_keeper_is_closed_in_its_place() {
    let mut yard = Yard::new();
    let pid = yard.sign("pid");
    let script = format!("fork pid={} 5m\nwait-for {}\nwrite a x", pid.display(), pid.display());
    let task = yard.add_staying("lone", &script);
    yard.start_runner();
    yard.at_work(&["lone"]);
    yard.stop_runner();
    signal(yard.keeper(&task), "-KILL");
    let killed = yard.fleet.json(&["kill", &task, "--yes", "--wait", "1m"]);
    assert_eq!(killed["killed"][0]["outcome"], "stopped", "{killed}");
    assert_eq!(yard.file("lone", "a"), "x");
    assert_eq!(yard.task(&task)["state"], "cancelled");
    assert!(!is_alive(&fs::read_to_string(pid).unwrap()));
    assert_eq!(yard.marks(), 0);
}

#[test]
fn what_goes_on_is_told_and_ends_later() {
    let mut yard = Yard::new();
    let task = yard.add_staying("frozen", "write a x");
    yard.start_runner();
    yard.at_work(&["frozen"]);
    yard.stop_runner();
    let keeper = yard.keeper(&task);
    signal(keeper, "-STOP");
    let failed = yard.fleet.fail(8, &["kill", "frozen", "--yes", "--wait", "300ms", "--json"]);
    let (code, message, hints) = error(&failed);
    assert_eq!(code, "kill-incomplete");
    assert!(message.contains(&task) && hints.contains("fleet start"), "{message} {hints}");
    assert!(failed.stdout.contains("\"outcome\":\"goes_on\""), "{}", failed.stdout);
    assert_eq!(yard.task(&task)["state"], "running", "nobody claims that it ended");
    signal(keeper, "-CONT");
    assert!(yard.fleet.ok(&["kill", "frozen", "--yes", "--wait", "1m"]).contains("  stopped  "));
    assert_eq!(yard.file("frozen", "a"), "x");
}

#[test]
fn a_discarded_branch_is_kept_as_a_snapshot() {
    let mut yard = Yard::new();
    let task = yard.add_staying("gone", "write a one\ncommit First\nwrite b two");
    yard.start_runner();
    yard.at_work(&["gone"]);
    let killed = yard.fleet.json(&["kill", "gone", "--yes", "--discard"]);
    let one = &killed["killed"][0];
    assert_eq!((one["discarded"].as_bool(), one["branch"].as_str()), (Some(true), None), "{killed}");
    assert!(!yard.has_branch("gone"));
    let snapshot = one["snapshot"].as_str().unwrap();
    assert!(snapshot.starts_with(&format!("refs/fleet/snapshots/{}/", yard.run_of(&task))), "{snapshot}");
    let vault = yard.fleet.vault();
    let file = |path: &str| vault.git(&["show", &format!("{snapshot}:{path}")]);
    assert_eq!((file("a"), file("b")), ("one".to_owned(), "two".to_owned()));
    assert_eq!(vault.git(&["log", "--format=%s", &format!("{snapshot}^")]), "wip: gone\nFirst\nfirst");
    assert_only_branches(&yard.repo);
}

#[test]
fn a_discarded_branch_that_is_checked_out_stays() {
    let mut yard = Yard::new();
    yard.add("held-here", "write a one");
    yard.finish_all();
    yard.repo.git(&["switch", "--quiet", "held-here"]);
    let task = yard.add("waits", "hang");
    yard.fleet.ok(&["kill", &task, "--yes", "--discard"]);
    let failed = yard.fleet.fail(3, &["kill", "held-here", "--yes", "--discard"]);
    assert!(failed.stderr.contains("has already finished"), "{}", failed.stderr);
    yard.start_runner();
    let task = yard.add_staying("mine", "write a two\ncommit Two");
    yard.at_work(&["mine"]);
    wait_until(SOON, "the branch", || yard.has_branch("mine"));
    yard.repo.git(&["switch", "--quiet", "mine"]);
    let failed = yard.fleet.fail(8, &["kill", &task, "--yes", "--discard"]);
    assert!(failed.stderr.contains("checked out at"), "{}", failed.stderr);
    assert!(failed.stdout.contains("  stopped  "), "{}", failed.stdout);
    assert!(yard.has_branch("mine"));
}

#[test]
fn patterns_that_mean_nothing_stop_nothing() {
    let yard = Yard::new();
    let empty = yard.fleet.fail(3, &["kill", "*", "--yes", "--json"]);
    assert_eq!(error(&empty).0, "nothing-matched", "a project without tasks");
    let task = yard.add("login", "hang");
    for pattern in ["logn", "log", "login-*", "LOGIN", "t0zzzzzzzz", "../login", "lo gin", "*\u{7}*"] {
        let failed = yard.fleet.fail(3, &["kill", pattern, "--yes", "--json"]);
        assert_eq!(error(&failed).0, "nothing-matched", "{pattern}");
        let failed = yard.fleet.fail(3, &["kill", "login", pattern, "--yes"]);
        assert!(failed.stderr.contains("no running or queued task matches"), "{pattern}: {}", failed.stderr);
    }
    for pattern in ["", "lo[gin", "[z-a]"] {
        assert_eq!(
            error(&yard.fleet.fail(2, &["kill", pattern, "--yes", "--json"])).0,
            "invalid-value",
            "{pattern}"
        );
    }
    assert_eq!(yard.fleet.fail(2, &["kill"]).stdout, "");
    assert_eq!(yard.fleet.run(&["kill", "--batch", "nonsense", "--yes"]).code, 3);
    assert_eq!(yard.fleet.run(&["kill", "login", "--wait", "soon", "--yes"]).code, 2);
    assert_eq!(yard.task(&task)["state"], "queued");
    yard.fleet.ok(&["kill", "login", "login", "lo*", "--yes"]);
    let over = yard.fleet.fail(3, &["kill", &task, "--yes"]);
    assert!(over.stderr.contains("has already finished"), "{}", over.stderr);
    let elsewhere = yard.fleet.cwd(yard.fleet.user_home()).fail(3, &["kill", "*", "--yes", "--json"]);
    assert_eq!(error(&elsewhere).0, "not-a-repository");
}

#[test]
fn cancelling_a_running_task_keeps_its_work() {
    let mut yard = Yard::new();
    let task = yard.add_staying("slow", "write a x");
    let done = yard.add("done", "write d x");
    yard.start_runner();
    yard.at_work(&["slow"]);
    wait_until(SOON, "the other task", || yard.task(&done)["state"] == "done");
    yard.fleet.fail(4, &["task", "cancel", &task, &done]);
    assert_eq!(yard.task(&task)["state"], "running", "all or none");
    let cancelled = yard.fleet.json(&["task", "cancel", &task, "-m", "not needed"]);
    assert_eq!(
        (cancelled["tasks"][0]["state"].as_str(), cancelled["tasks"][0]["remark"].as_str()),
        (Some("cancelled"), Some("not needed"))
    );
    assert_eq!(yard.file("slow", "a"), "x");
}

#[test]
fn an_id_says_which_task_is_meant_outside_of_a_repository() {
    let yard = Yard::new();
    let (first, second) = (yard.add("one-off", "say hi"), yard.add("two", "say hi"));
    let outside = yard.fleet.cwd(yard.fleet.user_home());
    assert_eq!(error(&outside.fail(3, &["kill", "one-off", "--yes", "--json"])).0, "not-a-repository");
    let killed = outside.json(&["kill", &first, "--yes"]);
    assert_eq!(killed["killed"][0]["task"], *first, "{killed}");
    assert_eq!(yard.fleet.json(&["task", "show", &first])["state"], "cancelled");
    assert_eq!(yard.fleet.json(&["task", "show", &second])["state"], "queued");
}

#[test]
fn what_could_not_be_brought_to_the_branch_is_not_said_to_be_there() {
    let mut yard = Yard::new();
    let task = yard.add_staying("mine", "write a x\ncommit first\nwrite b y");
    yard.start_runner();
    yard.at_work(&["mine"]);
    wait_until(SOON, "the commit is published", || yard.has_branch("mine"));
    // A repository that takes nothing any more, be it full or read-only.
    let packs = yard.repo.path().join(".git/objects/pack");
    let aside = yard.repo.path().join(".git/objects/aside");
    fs::rename(&packs, &aside).unwrap();
    fs::write(&packs, "").unwrap();
    let said = yard.fleet.ok(&["kill", "mine", "--yes", "--wait", "1m"]);
    assert!(
        said.contains("could not be brought to its branch") && !said.contains("its work is on"),
        "{said}"
    );
    fs::remove_file(&packs).unwrap();
    fs::rename(&aside, &packs).unwrap();
    wait_until(SOON, "it is brought there later", || {
        yard.fleet.run(&["run", "--until-idle"]);
        yard.repo.git(&["ls-tree", "--name-only", "mine"]).contains('b')
    });
    assert_eq!(yard.task(&task)["state"], "cancelled");
}
