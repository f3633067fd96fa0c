//! Runs whose workspace cannot be prepared.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fleet_api::verbs::run_kill;
use fleet_core::run::{Reason, RunState};

use crate::rig::Rig;

/// Longer than anything here takes on the slowest machine, and shorter than every limit.
const BOUND: Duration = Duration::from_secs(90);

fn nudge_this_process() {
    let pid = std::process::id().to_string();
    assert!(Command::new("kill").args(["-USR1", &pid]).status().unwrap().success());
}

#[tokio::test]
async fn submodules_that_take_too_long_end_the_run_with_a_reason_of_their_own() {
    let rig = Rig::with_workspaces("submodule_time = '1s'");
    let server = rig.repo.add_hanging_submodule();
    rig.add("echo a > a", &[]).await;
    let run = rig.play().await.unwrap();
    let detail = run.detail.as_deref().unwrap();
    assert!(detail.starts_with("`git submodule update` did not end within 1 s"), "{detail}");
    assert_eq!(run.reason, Some(Reason::WorkspaceRefused));
    assert!(rig.play().await.is_none(), "it is not tried again");
    drop(server);
}

#[tokio::test]
async fn a_kill_ends_a_submodule_that_hangs() {
    let rig = Rig::with_workspaces("submodule_time = '1h'");
    let server = rig.repo.add_hanging_submodule();
    let task = rig.add("echo a > a", &[]).await;
    let started = Instant::now();
    let kill = async {
        let connected = tokio::task::spawn_blocking(move || server.accept().map(|(stream, _)| stream));
        let stream: TcpStream = connected.await.unwrap().unwrap();
        let request = run_kill::Request { tasks: vec![task], wait_millis: Some(0), ..Default::default() };
        fleet_api::call(&rig.engine, None, &request).await.unwrap();
        // The place of this keeper is made up, so nobody else tells it to look.
        nudge_this_process();
        stream
    };
    let (run, _stream) = tokio::join!(rig.play(), kill);
    assert_eq!(run.unwrap().state.get(), RunState::Cancelled);
    assert!(started.elapsed() < BOUND, "it was not waited for");
}

#[tokio::test]
async fn the_workspace_in_which_a_run_could_not_be_prepared_is_not_used_again() {
    let rig = Rig::with_workspaces("setup = ['test -e $HOME/second || { touch $HOME/second; exit 1; }']");
    rig.add("echo a > a", &[]).await;
    let first = rig.play().await.unwrap();
    assert_eq!(first.reason, Some(Reason::SetupFailed));
    assert!(!Path::new(first.workspace.as_deref().unwrap()).exists(), "it was moved aside");
    rig.done().await;
}
