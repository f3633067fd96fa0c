//! Keepers leave their store operations to their runner. It may be killed or frozen in the middle, and nobody else can
//! use the connection.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use fleet_testkit::wait_until;
use rustix::fs::FlockOperation;
use rustix::process::Signal;
use serde_json::Value;

use super::processes::send;
use super::stage::{BOUND, Stage};

/// How many lines each agent says, and how many agents do.
const LINES: usize = 60;
const AGENTS: usize = 3;

/// Says its lines one by one, in the middle of which `go` is waited for.
fn talking(stage: &Stage) -> String {
    let say = |number: usize| format!("say line {number}\nsleep 10ms");
    let lines: Vec<String> = (0..LINES).map(say).collect();
    format!("{}\nwait-for {}\nsay the end", lines.join("\n"), stage.sign("go").display())
}

fn said(events: &[Value], task: &str, text: &str) -> usize {
    let is_it = |event: &&Value| event["task"] == task && event["data"]["text"] == text;
    events.iter().filter(|event| event["kind"] == "run.said").filter(is_it).count()
}

#[test]
fn nothing_is_lost_or_doubled_when_the_runner_is_killed_while_agents_talk() {
    let stage = Stage::new();
    let tasks: Vec<String> = (0..AGENTS).map(|_| stage.add(&talking(&stage))).collect();
    let mut runner = stage.run(None);
    let has_begun = |task: &String| said(&stage.events(), task, "line 1") == 1;
    wait_until(BOUND, "all of them talk", || tasks.iter().all(has_begun));
    runner.kill();
    let heard = |task: &String| said(&stage.events(), task, &format!("line {}", LINES - 1)) == 1;
    wait_until(BOUND, "their keepers go on without it", || tasks.iter().all(heard));
    let next = stage.next_runner();
    stage.give("go");
    for task in &tasks {
        stage.wait_status(task, "done");
        assert_eq!(stage.task(task)["attempts"], 1);
    }
    let events = stage.events();
    for task in &tasks {
        for text in (0..LINES).map(|number| format!("line {number}")).chain(["the end".to_owned()]) {
            assert_eq!(said(&events, task, &text), 1, "{task}: {text}");
        }
    }
    drop(next);
}

/// Stops a process in a moment in which it does not hold the store's lock: then nobody could go on.
fn freeze(stage: &Stage, pid: i32) {
    let lock = File::open(stage.home().join("fleet.db.lock")).unwrap();
    wait_until(BOUND, "a moment in which it does not write", || {
        send(pid, Signal::STOP);
        let is_free = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if is_free {
            rustix::fs::flock(&lock, FlockOperation::Unlock).unwrap();
        } else {
            send(pid, Signal::CONT);
        }
        is_free
    });
}

#[test]
fn a_keeper_whose_runner_is_frozen_goes_on() {
    let stage = Stage::new();
    let task = stage.add(&talking(&stage));
    let runner = stage.run(None);
    wait_until(BOUND, "it talks", || said(&stage.events(), &task, "line 1") == 1);
    freeze(&stage, runner.pid());
    stage.give("go");
    stage.wait_status(&task, "done");
    let events = stage.events();
    send(runner.pid(), Signal::CONT);
    for number in 0..LINES {
        assert_eq!(said(&events, &task, &format!("line {number}")), 1, "line {number}");
    }
    assert_eq!(said(&events, &task, "the end"), 1);
    // What the runner still had of it changes nothing.
    wait_until(BOUND, "the runner has tidied up", || stage.live().is_empty());
    assert_eq!(stage.events(), events);
}

/// The sockets that a process has, as other processes of the user see them.
fn sockets(pid: i32) -> Vec<PathBuf> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten().map(|entry| entry.path());
    let is_socket = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.file_type().is_socket());
    files.filter(is_socket).collect()
}

fn sockets_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| match fs::symlink_metadata(&path).map(|file| file.file_type()) {
        Ok(kind) if kind.is_dir() => sockets_below(&path),
        Ok(kind) if kind.is_socket() => vec![path],
        _ => Vec::new(),
    };
    entries.flat_map(below).collect()
}

#[test]
fn nobody_but_the_keeper_has_its_connection() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    let runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    assert!(!sockets(keeper).is_empty(), "it has one to its runner");
    assert_eq!(sockets(agent), Vec::<PathBuf>::new(), "its agent does not");
    let door = stage.home().join("runs").join(&run).join("door");
    assert_eq!(sockets_below(stage.home()), [door], "the door of the run is the only address");
    for socket in sockets(keeper).into_iter().chain(sockets(runner.pid())) {
        let error = File::open(&socket).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NXIO.raw_os_error()), "{error}");
        assert_ne!(error.kind(), ErrorKind::NotFound);
    }
    stage.give("go");
    stage.wait_status(&task, "done");
}
