//! Steering and tidying, with real runs of the demo agent: what is stopped, what is kept, what comes back.

mod after;
mod clean;
mod doctor;
mod elsewhere;
mod emergency;
mod existing;
mod gc;
mod keep;
mod kill;
mod limits;
mod messages;
mod named;
mod prompt;
mod publish;
mod questions;
mod read_only;
mod undo;
mod why;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fleet_testkit::fleet::Fleet;
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::Value;

use super::support::fleet;

const SOON: Duration = Duration::from_mins(1);

/// A repository, a home, and at times a runner. Nothing that it started outlives it.
struct Yard {
    fleet: Fleet,
    repo: Repo,
    runner: Option<Child>,
    signs: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        let repo = Repo::init();
        let fleet = fleet().cwd(repo.path());
        let fleet = fleet.env("FLEET_AUTOSTART", "false").env("FLEET_LIMITS_STOP_GRACE", "1s");
        let fleet = fleet.env("FLEET_TASKS_RETRIES", "0");
        Self { fleet, repo, runner: None, signs: tempfile::tempdir().unwrap() }
    }

    /// A task for the demo agent, on a branch of its own.
    #[track_caller]
    fn add(&self, branch: &str, script: &str) -> String {
        let description = format!("```demo\n{script}\n```");
        let args = ["task", "add", "-q", branch, "--agent", "demo", "--branch", branch, "-d", &description];
        self.fleet.ok(&args).trim_end().to_owned()
    }

    /// A file by which an agent gives a sign.
    fn sign(&self, name: &str) -> PathBuf {
        self.signs.path().join(name)
    }

    /// A task whose agent does this, gives a sign, and stays.
    #[track_caller]
    fn add_staying(&self, branch: &str, script: &str) -> String {
        let sign = self.sign(branch).display().to_string();
        self.add(branch, &format!("{script}\ntouch \"{sign}\"\nhang"))
    }

    fn start_runner(&mut self) {
        let mut runner = self.fleet.command(&["run", "--slots", "4"]);
        let runner = runner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.runner = Some(runner);
    }

    fn stop_runner(&mut self) {
        if let Some(mut runner) = self.runner.take() {
            let _ = runner.kill();
            let _ = runner.wait();
        }
    }

    /// Waits for the agents of these branches to have given their signs.
    #[track_caller]
    fn at_work(&self, branches: &[&str]) {
        let all = || branches.iter().all(|branch| self.sign(branch).exists());
        let over = || {
            let list = self.fleet.json(&["task", "list", "--all"]);
            let ended = |task: &&Value| task["failures"] != 0 || task["state"] == "failed";
            list["tasks"].as_array().unwrap().iter().find(ended).cloned()
        };
        wait_until(SOON, "agents at work", || all() || over().is_some());
        assert!(all(), "it failed instead: {:?}", over());
    }

    /// Starts these tasks and does all that there is to do.
    #[track_caller]
    fn finish_all(&self) {
        self.fleet.ok(&["run", "--until-idle"]);
    }

    #[track_caller]
    fn task(&self, id: &str) -> Value {
        self.fleet.json(&["task", "show", id])
    }

    fn has_branch(&self, branch: &str) -> bool {
        self.tip(branch).is_some()
    }

    fn tip(&self, branch: &str) -> Option<String> {
        let format = "--format=%(objectname) %(refname)";
        let refs = self.repo.git(&["for-each-ref", format, &format!("refs/heads/{branch}")]);
        refs.split_once(' ').map(|(commit, _)| commit.to_owned())
    }

    /// The text of a file on a branch.
    #[track_caller]
    fn file(&self, branch: &str, path: &str) -> String {
        self.repo.git(&["show", &format!("{branch}:{path}")])
    }

    /// The process that keeps the run of a task, once it has one.
    #[track_caller]
    fn keeper(&self, task: &str) -> i32 {
        let run = self.run_of(task);
        let mark = fs::read_to_string(self.fleet.home().join("live").join(&run)).unwrap();
        let keeper: Value = serde_json::from_str(&mark).unwrap();
        i32::try_from(keeper["pid"].as_i64().unwrap()).unwrap()
    }

    /// The newest run of a task.
    #[track_caller]
    fn run_of(&self, task: &str) -> String {
        self.task(task)["runs"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Names of what is in a folder of the home.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.fleet.home().join(folder)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What is left of runs at work.
    fn marks(&self) -> usize {
        self.names("live").len()
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        self.stop_runner();
        let _ = self.fleet.run(&["stop", "--agents"]);
    }
}

/// Sends a signal to a process that a test started.
#[track_caller]
fn signal(pid: i32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "{name} to {pid}");
}

/// Whether a process is there and not over.
fn is_alive(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}
