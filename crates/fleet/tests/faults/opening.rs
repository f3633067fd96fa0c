//! Asking for the files of a run while its keeper gives its workspace back.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::stage::Stage;

#[test]
fn the_workspace_of_a_run_that_has_just_ended_is_not_handed_out() {
    let stage = Stage::new();
    let task = stage.add("write a.txt one");
    let _runner = stage.run(Some("keeper-recorded"));
    stage.wait_held("keeper-recorded");
    stage.wait_status(&task, "done");
    let workspace = stage.worktree();
    let fleet = stage.fleet.clone();
    let opening = thread::spawn(move || fleet.ok(&["open", &task, "--print"]));
    // Long enough for an answer, if it came at once.
    thread::sleep(Duration::from_secs(1));
    assert!(!opening.is_finished(), "it waits until the workspace is given back");
    stage.let_go("keeper-recorded");
    let folder = opening.join().unwrap();
    let folder = Path::new(folder.trim());
    assert_ne!(folder, workspace);
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
}
