//! A keeper that dies while git waits for a submodule.

use std::net::{TcpListener, TcpStream};

use fleet_testkit::wait_until;

use super::processes::kill;
use super::stage::{BOUND, Stage};

#[track_caller]
fn connected(server: &TcpListener) -> TcpStream {
    server.set_nonblocking(true).unwrap();
    let mut stream = None;
    wait_until(BOUND, "a git that connects", || {
        stream = server.accept().ok();
        stream.is_some()
    });
    stream.unwrap().0
}

#[test]
fn a_git_that_hangs_does_not_outlive_the_keeper_that_started_it() {
    let stage = Stage::new();
    let server = stage.repo.add_hanging_submodule();
    let task = stage.add("write a.txt one");
    let _runner = stage.run(None);
    let _first = connected(&server);
    kill(stage.keeper_pid(&stage.live_run()));
    // Only when its git has ended can the run be ended, and the next attempt come so far.
    let _second = connected(&server);
    assert_eq!(stage.task(&task)["attempts"], 2);
    stage.fleet.ok(&["kill", &task, "--yes"]);
    stage.wait_status(&task, "cancelled");
}
