//! Runners and keepers that are killed in the middle of a workflow.

use super::bench::{Bench, named, signal, stage, states};

/// Two stages; the first one waits for a sign of the test.
fn waiting(bench: &Bench) -> String {
    let (here, go) = (bench.sign("here").display().to_string(), bench.sign("go").display().to_string());
    let mut text = stage("a", "retries = 2", &format!("write a.txt x\ntouch {here}\nwait-for {go} 2m"));
    text += &stage("b", "needs = ['a']\nstart = 'inherit'", "write b.txt x");
    text
}

#[test]
fn a_killed_runner_is_replaced_and_nothing_is_done_twice() {
    let mut bench = Bench::quiet();
    let id = bench.start(&waiting(&bench));
    bench.start_runner();
    bench.at_work(&["here"]);
    bench.kill_runner();
    std::fs::write(bench.sign("go"), "").unwrap();
    // The stage ends without any runner, and its end makes the next one a task.
    bench.until(&id, "the next stage", |workflow| named(workflow, "b")["status"] == "ready");
    bench.start_runner();
    let output = bench.fleet.run(&["workflow", "watch", &id]);
    assert_eq!(output.code, 0, "{output:?}");
    let workflow = bench.show(&id);
    assert_eq!(states(&workflow), "a done, b done");
    assert!(workflow["stages"].as_array().unwrap().iter().all(|stage| stage["attempts"] == 1), "{workflow}");
    assert_eq!(bench.files(named(&workflow, "b")["branch"].as_str().unwrap()), ["a.txt", "b.txt"]);
}

#[test]
fn a_killed_keeper_is_noticed_and_its_stage_tried_again() {
    let mut bench = Bench::quiet();
    let id = bench.start(&waiting(&bench));
    bench.start_runner();
    bench.at_work(&["here"]);
    let workflow = bench.show(&id);
    signal(bench.keeper(named(&workflow, "a")), "-KILL");
    std::fs::write(bench.sign("go"), "").unwrap();
    let output = bench.fleet.run(&["workflow", "watch", &id]);
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let workflow = bench.show(&id);
    assert_eq!(states(&workflow), "a done, b done");
    assert_eq!(named(&workflow, "a")["attempts"], 2, "{workflow}");
}

#[test]
fn whoever_follows_may_leave_and_come_back() {
    let mut bench = Bench::quiet();
    let id = bench.start(&waiting(&bench));
    bench.start_runner();
    bench.at_work(&["here"]);
    let mut watch = bench.fleet.command(&["workflow", "watch", &id]);
    let watch = watch.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let watch = watch.spawn().unwrap();
    let pid = i32::try_from(watch.id()).unwrap();
    // It has told something, so it listens.
    let mut first = String::new();
    let mut watch = watch;
    std::io::BufRead::read_line(&mut std::io::BufReader::new(watch.stdout.take().unwrap()), &mut first)
        .unwrap();
    signal(pid, "-INT");
    let left = watch.wait_with_output().unwrap();
    assert_eq!(left.status.code(), Some(130), "{first}");
    let said = String::from_utf8(left.stderr).unwrap();
    assert!(
        said.contains("agents keep running") && said.contains(&format!("fleet workflow watch {id}")),
        "{said}"
    );
    assert_eq!(bench.show(&id)["state"], "running");
    std::fs::write(bench.sign("go"), "").unwrap();
    assert_eq!(bench.fleet.run(&["workflow", "watch", &id]).code, 0);
}
