//! Cancelling, whenever it comes.

use std::fs;

use super::bench::{Bench, is_alive, named, stage, states};

#[test]
fn everything_ends_and_no_process_is_left() {
    let bench = Bench::new();
    let (child, sign) = (bench.sign("child"), bench.sign("sign"));
    let (child, sign) = (child.display(), sign.display());
    let deaf = format!(
        "write a.txt x\nignore TERM\nfork session double ignore pid={child} 5m\nwait-for {child}\ntouch {sign}\nhang"
    );
    let mut text = stage("quick", "", "write q.txt x");
    text += &stage("deaf", "needs = ['quick']", &deaf);
    text += &stage("after", "needs = ['deaf']", "write b.txt x");
    let id = bench.start(&text);
    bench.at_work(&["sign"]);
    let pid = fs::read_to_string(bench.sign("child")).unwrap();
    assert!(is_alive(&pid));
    let cancelled = bench.fleet.json(&["workflow", "cancel", &id, "-m", "not wanted"]);
    let one = &cancelled["workflows"][0];
    assert_eq!((&one["state"], &one["why"]), (&"cancelled".into(), &"not wanted".into()), "{cancelled}");
    assert_eq!(one["stopped"], serde_json::json!(["deaf"]));
    assert_eq!(one["unstarted"], serde_json::json!(["after"]));
    assert_eq!(one["over"], serde_json::json!(["quick"]));
    assert!(!is_alive(&pid), "what it left behind has ended, too");
    assert_eq!(bench.marks(), 0);
    let workflow = bench.show(&id);
    assert_eq!(states(&workflow), "quick done, deaf cancelled, after cancelled");
    assert_eq!(bench.files(named(&workflow, "deaf")["branch"].as_str().unwrap()), ["a.txt"]);
    let again = bench.fleet.ok(&["workflow", "cancel", &id]);
    assert!(again.contains("cancelled"), "asking again changes nothing: {again}");
}

#[test]
fn what_has_not_started_never_does() {
    let mut bench = Bench::quiet();
    let text = stage("a", "", "write a.txt x") + &stage("b", "needs = ['a']", "write b.txt x");
    let id = bench.start(&text);
    let said = bench.fleet.ok(&["workflow", "cancel", &id]);
    assert!(said.contains("will not start: a, b"), "{said}");
    bench.start_runner();
    bench.fleet.ok(&["create", "later", "-p", "Later\n\n```demo\nwrite l.txt x\n```"]);
    let workflow = bench.show(&id);
    assert_eq!(states(&workflow), "a cancelled, b cancelled");
    assert!(workflow["stages"][0]["run"].is_null(), "{workflow}");
}

#[test]
fn whoever_does_not_wait_is_told_what_goes_on() {
    let bench = Bench::new();
    let sign = bench.sign("sign").display().to_string();
    let id = bench.start(&stage("slow", "", &format!("ignore TERM\ntouch {sign}\nhang")));
    bench.at_work(&["sign"]);
    let cancelled = bench.fleet.json(&["workflow", "cancel", &id, "--no-wait"]);
    assert_eq!(cancelled["workflows"][0]["state"], "cancelling", "{cancelled}");
    assert_eq!(cancelled["workflows"][0]["going_on"], serde_json::json!(["slow"]));
    bench.until(&id, "its end", |workflow| workflow["state"] == "cancelled");
    let watched = bench.fleet.fail(8, &["workflow", "watch", &id]);
    assert!(watched.stderr.contains("w was cancelled"), "{watched:?}");
}

#[test]
fn one_that_is_over_is_not_cancelled_and_several_are_asked_about() {
    let bench = Bench::quiet();
    let (first, second) = (bench.start(&stage("a", "", "hang")), bench.start(&stage("a", "", "hang")));
    let ambiguous = bench.fleet.fail(2, &["workflow", "cancel", "w"]);
    assert!(ambiguous.stderr.contains(&first) && ambiguous.stderr.contains(&second), "{ambiguous:?}");
    let asked = bench.fleet.fail(2, &["workflow", "cancel", &first, &second]);
    assert!(asked.stderr.contains("no terminal to confirm"), "{asked:?}");
    assert_eq!(bench.show(&first)["state"], "running");
    bench.fleet.ok(&["workflow", "cancel", &first, &second, "--yes"]);
    assert_eq!(bench.show(&second)["state"], "cancelled");
}

#[test]
fn a_run_that_is_killed_by_hand_is_noticed() {
    let bench = Bench::new();
    let sign = bench.sign("sign").display().to_string();
    let mut text = stage("slow", "", &format!("touch {sign}\nhang"));
    text += &stage("after", "needs = ['slow']", "write b.txt x");
    let id = bench.start(&text);
    bench.at_work(&["sign"]);
    let branch = named(&bench.show(&id), "slow")["branch"].as_str().unwrap().to_owned();
    bench.fleet.ok(&["kill", &branch, "--yes", "--wait", "1m"]);
    let workflow = bench.show(&id);
    assert_eq!((&workflow["state"], &workflow["why"]), (&"failed".into(), &"slow was cancelled".into()));
    assert_eq!(states(&workflow), "slow cancelled, after skipped");
}
