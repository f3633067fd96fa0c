//! What has to be true when everything is over, whatever happened on the way.

use std::collections::BTreeSet;

use fleet_testkit::vault::{self, assert_only_branches};
use fleet_testkit::wait_until;
use serde_json::Value;

use super::processes;
use super::stage::{BOUND, FILES, Running, Stage, branch_of};

impl Stage {
    /// The task is done, all is tidy, nothing is lost. Ends the runner.
    #[track_caller]
    pub(crate) fn assert_well(&self, task: &str, runner: Running) {
        self.wait_status(task, "done");
        self.assert_tidy([runner]);
        self.assert_once(task);
        for (path, text) in FILES {
            let branch = branch_of(task);
            assert_eq!(
                self.content(&branch, path).as_deref(),
                Some(text),
                "{path} on the branch of the task"
            );
        }
    }

    /// Nothing is left of any run. Ends the runners.
    #[track_caller]
    pub(crate) fn assert_tidy(&self, runners: impl IntoIterator<Item = Running>) {
        wait_until(BOUND, "no run is marked as live, no worktree is taken", || {
            self.live().is_empty() && self.claims().is_empty()
        });
        for mut runner in runners {
            processes::send(runner.pid(), rustix::process::Signal::TERM);
            runner.wait();
        }
        let mut left = Vec::new();
        wait_until(BOUND, "nobody is left behind", || {
            left = processes::of_home(self.home());
            left.is_empty()
        });
        self.assert_untouched();
        self.assert_healthy();
    }

    /// The user's own checkout is as it was.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        assert!(
            !self.sign("hook").exists(),
            "a hook of the user ran: {:?}",
            std::fs::read(self.sign("hook"))
        );
        assert_eq!(self.repo.git(&["-c", "core.hooksPath=/dev/null", "status", "--porcelain"]), "");
        assert_eq!(self.repo.git(&["rev-parse", "HEAD"]), self.head);
        assert_eq!(self.repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert_only_branches(&self.repo);
    }

    #[track_caller]
    pub(crate) fn assert_healthy(&self) {
        let said = self.fleet.json(&["doctor"]);
        assert_eq!(said["healthy"], true, "{said:#}");
        // The usual agent need not be on this machine, and some disks here are small on purpose.
        let is_meant = |check: &&Value| check["name"] != "agents" && check["name"] != "space";
        let checks = said["checks"].as_array().unwrap().iter().filter(is_meant);
        let bad = checks.filter(|check| check["verdict"] != "good");
        assert_eq!(bad.collect::<Vec<_>>(), Vec::<&Value>::new());
    }

    /// The task ended once, and its runs came one after the other.
    #[track_caller]
    pub(crate) fn assert_once(&self, task: &str) {
        assert_eq!(assert_in_turn(&self.events(), task), 1);
    }

    /// What a file says in a commit of the user's repository; `None` if it is not there.
    pub(crate) fn content(&self, commit: &str, path: &str) -> Option<String> {
        content(|args| self.repo.git(args), commit, path)
    }

    /// The snapshots, by their names.
    pub(crate) fn snapshots(&self) -> Vec<String> {
        vault::snapshots(self.home())
    }

    /// What the agent wrote at first is in some snapshot, whatever became of the branch.
    #[track_caller]
    pub(crate) fn assert_in_snapshots(&self) {
        let snapshots = self.snapshots();
        let git = |args: &[&str]| self.fleet.vault().git(args);
        for (path, text) in FILES {
            let found = snapshots.iter().any(|name| content(git, name, path).as_deref() == Some(text));
            assert!(found, "{path} is in none of {snapshots:?}");
        }
    }
}

/// What a file says in a commit, without the last line end; `None` if it is not there.
fn content(git: impl Fn(&[&str]) -> String, commit: &str, path: &str) -> Option<String> {
    let files = git(&["-c", "core.quotePath=false", "ls-tree", "-r", "-z", "--name-only", commit]);
    let is_there = files.split('\0').any(|file| file == path);
    is_there.then(|| git(&["show", &format!("{commit}:{path}")]))
}

/// The task never had two runs at a time, each had a higher attempt number than those before, and none is left. Returns how
/// often it was done.
#[track_caller]
pub(crate) fn assert_in_turn(events: &[Value], task: &str) -> usize {
    let (mut live, mut last, mut done) = (None, 0, 0);
    let mut runs = BTreeSet::new();
    for event in events.iter().filter(|event| event["task"] == task) {
        match event["kind"].as_str().unwrap() {
            "task.started" => {
                assert_eq!(live, None, "two runs at a time");
                live = Some(event["run"].as_str().unwrap().to_owned());
                assert!(runs.insert(event["run"].to_string()));
                let attempt = event["data"]["attempt"].as_i64().unwrap();
                assert!(attempt > last, "attempt {attempt} after {last}");
                last = attempt;
            }
            "task.done" | "task.failed" | "task.requeued" | "task.waiting" | "task.cancelled" => {
                assert_eq!(event["run"].as_str(), live.as_deref(), "ended by another run");
                live = None;
                done += usize::from(event["kind"] == "task.done");
            }
            kind if kind.starts_with("run.") => {
                assert_eq!(event["run"].as_str(), live.as_deref(), "{kind} of a run that is over");
            }
            _ => {}
        }
    }
    assert_eq!(live, None, "a run of {task} is left");
    done
}
