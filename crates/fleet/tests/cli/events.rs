//! The record of what happened, read by another process.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::support::{World, json_lines};

/// For slow machines; it comes within milliseconds.
const SOON: Duration = Duration::from_secs(30);

/// A process that follows, ended with this.
struct Follower {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Follower {
    fn start(world: &World, options: &[&str]) -> Self {
        let mut arguments = vec!["events", "--follow", "--json"];
        arguments.extend(options);
        let mut command = world.fleet.command(&arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let reader = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    #[track_caller]
    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(SOON).expect("an event comes soon");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn a_follower_sees_what_others_do(world: &World) {
    world.add("First");
    let follower = Follower::start(world, &["--since", "0"]);
    let here = Follower::start(world, &["-n", "1", "--here"]);
    assert_eq!(follower.next()["kind"], "project.added");
    assert_eq!(follower.next()["data"]["title"], "First");
    assert_eq!(here.next()["data"]["title"], "First", "the newest, and then what comes");
    for number in 3..8 {
        let id = world.add("Next");
        let event = follower.next();
        assert_eq!((event["seq"].as_i64(), event["task"].as_str()), (Some(number), Some(id.as_str())));
        assert_eq!(here.next(), event);
    }
}

#[test]
fn a_follower_sees_what_others_do_on_sqlite() {
    a_follower_sees_what_others_do(&World::sqlite());
}

#[test]
fn a_follower_sees_what_others_do_on_postgresql() {
    a_follower_sees_what_others_do(&World::postgres());
}

#[test]
fn a_follower_ends_quietly_when_nobody_reads() {
    let world = World::sqlite();
    world.add("First");
    let mut command = world.fleet.command(&["events", "--follow", "--since", "0"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("project.added"), "{line}");
    // It notices with the next thing that it has to say.
    let ended = (0..300).any(|_| {
        world.add("Next");
        child.try_wait().unwrap().is_some()
    });
    if !ended {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert!(ended && output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn numbers_have_no_gaps_and_since_goes_on_after_one() {
    let world = World::sqlite();
    let id = world.add("First");
    world.fleet.ok(&["task", "hold", &id]);
    world.fleet.fail(4, &["task", "hold", &id]);
    world.fleet.ok(&["task", "release", &id]);
    world.fleet.ok(&["task", "delete", "-y", &id]);
    let all = json_lines(&world.fleet.ok(&["events", "--json", "--since", "0"]));
    let numbers: Vec<i64> = all.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let rest = json_lines(&world.fleet.ok(&["events", "--json", "--since", "3"]));
    assert_eq!(rest, all[3..]);
    assert_eq!(json_lines(&world.fleet.ok(&["events", "--json", "-n", "2"])), all[3..], "the newest");
    assert_eq!(json_lines(&world.fleet.ok(&["events", "--json", "--since", "0", "-n", "2"])), all[..2]);
    assert_eq!(world.fleet.ok(&["events", "--since", "99"]), "");
}
