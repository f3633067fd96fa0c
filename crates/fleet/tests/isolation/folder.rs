//! Where an agent works.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use fleet_testkit::wait_until;

use super::stage::{SOON, Stage};

#[test]
fn the_folder_of_an_agent_at_work_is_told_and_that_of_an_ended_run_is_made_again() {
    let stage = Stage::new();
    let (ready, go) = (stage.path("ready"), stage.path("go"));
    let wait = format!("touch {}; while [ ! -e {} ]; do sleep 0.05; done", ready.display(), go.display());
    stage.script(&format!("echo here > here.txt; {wait}"));
    stage.fleet.ok(&["task", "add", "Task", "--agent", "script", "--branch", "feature", "--retries", "0"]);
    let mut runner = stage.fleet.command(&["run", "--until-idle"]);
    let mut runner = runner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(SOON, "the agent works", || ready.exists());
    let folder = stage.fleet.ok(&["open", "feature"]);
    let folder = Path::new(folder.trim_end());
    assert_eq!(fs::read_to_string(folder.join("here.txt")).unwrap(), "here\n");
    assert!(folder.join(".git").is_dir(), "a repository of its own");
    let told = stage.fleet.json(&["open", "feature"]);
    assert_eq!(told["workspace"].as_str(), folder.to_str());
    assert_eq!(stage.fleet.json(&["list"])["runs"][0]["workspace"], told["workspace"]);
    fs::write(&go, "").unwrap();
    assert!(runner.wait().unwrap().success());
    let again = stage.fleet.ok(&["open", "feature"]);
    let again = Path::new(again.trim_end());
    assert_ne!(again, folder, "the folder is another run's");
    assert_eq!(fs::read_to_string(again.join("here.txt")).unwrap(), "here\n");
    assert_eq!(stage.fleet.ok(&["open", "feature"]).trim_end(), again.to_str().unwrap(), "only once");
}
