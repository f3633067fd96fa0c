//! A repository, the homes that work on it, and what must be true of them in the end.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fleet_testkit::fleet::{Fleet, binary};
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::{Value, json};

use super::ledger;
use crate::evidence::assert_in_turn;
use crate::processes;
use crate::stage::{Running, names};

/// Far above what is left to do when nobody is disturbed any more.
const REST: Duration = Duration::from_mins(10);

/// As many as are allowed.
const RETRIES: usize = 20;

/// Homes that work on one repository.
pub(super) struct World {
    pub(super) homes: Vec<Fleet>,
    pub(super) repo: Repo,
    folder: tempfile::TempDir,
    logs: AtomicUsize,
}

impl World {
    /// So many homes: with a store each, or with one that they share.
    pub(super) fn new(homes: usize, store: Option<&str>) -> Self {
        let (repo, folder) = (Repo::init(), tempfile::tempdir().unwrap());
        let program = folder.path().join("agent.sh");
        fs::write(&program, ledger::agent(&folder.path().join("ledger"))).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let config = format!("[agents.script]\nprogram = '{}'\nprompt = 'stdin'\n", program.display());
        let home = |_| {
            let fleet = Fleet::new(binary(env!("CARGO_BIN_EXE_fleet"))).cwd(repo.path());
            fs::write(fleet.home().join("config.toml"), &config).unwrap();
            let fleet = fleet.env("FLEET_RUNNER_LEASE_SECONDS", "2").env("FLEET_LIMITS_STOP_GRACE", "1s");
            store.map_or_else(|| fleet.clone(), |url| fleet.env("FLEET_STORE", url))
        };
        Self { homes: (0..homes).map(home).collect(), repo, folder, logs: AtomicUsize::new(0) }
    }

    /// Adds tasks, which may be tried very often, until so many are open.
    pub(super) fn fill(&self, wanted: usize) {
        let missing = wanted.saturating_sub(self.open());
        if missing == 0 {
            return;
        }
        let task = json!({
            "title": "Work", "agent": "script", "retry": { "retries": RETRIES, "backoff_seconds": 0 },
        });
        let tasks = format!("{task}\n").repeat(missing);
        self.homes[0].stdin(tasks).ok(&["task", "import", "-"]);
    }

    /// A runner of a home.
    pub(super) fn runner(&self, home: usize) -> Running {
        let number = self.logs.fetch_add(1, Ordering::Relaxed);
        let log = File::create(self.folder.path().join(format!("runner-{number}.log"))).unwrap();
        let mut command = self.homes[home].command(&["run", "--slots", "3"]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        Running::new(command.spawn().unwrap())
    }

    /// How many tasks are not over. One that was given up is, though it waits for a person: whether that was right is
    /// looked at in the end.
    pub(super) fn open(&self) -> usize {
        let listed = self.homes[0].json(&["task", "list", "--limit", "1000"]);
        let is_open = |task: &&Value| task["state"] != "failed";
        listed["tasks"].as_array().unwrap().iter().filter(is_open).count()
    }

    /// Waits until all is over, and ends the runners.
    #[track_caller]
    pub(super) fn settle(&self, runners: Vec<Running>) {
        wait_until(REST, "all tasks are over", || self.open() == 0);
        let is_tidy = |home: &Fleet| names(&home.home().join("live")).is_empty();
        wait_until(REST, "no run is left", || self.homes.iter().all(is_tidy));
        for mut runner in runners {
            processes::send(runner.pid(), rustix::process::Signal::TERM);
            runner.wait();
        }
        let is_alone = |home: &Fleet| processes::of_home(home.home()).is_empty();
        wait_until(REST, "nobody is left behind", || self.homes.iter().all(is_alone));
    }

    /// Every task ended once, all repositories are whole, and every content is somewhere. Returns how many there were.
    #[track_caller]
    pub(super) fn assert_nothing_lost(&self) -> (usize, usize) {
        let tasks = self.assert_tasks_ended();
        let mut found = ledger::reached(self.repo.path());
        self.repo.git(&["fsck", "--full", "--strict"]);
        for home in &self.homes {
            home.vault().git(&["fsck", "--full"]);
            found.append(&mut ledger::reached(home.vault().path()));
            found.append(&mut ledger::lying_in(&home.home().join("worktrees/.kept")));
            assert_eq!(home.json(&["doctor"])["healthy"], true);
        }
        let noted = ledger::noted(&self.folder.path().join("ledger"));
        let lost: BTreeSet<_> = noted.difference(&found).collect();
        assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), noted.len());
        (tasks, noted.len())
    }

    #[track_caller]
    fn assert_tasks_ended(&self) -> usize {
        let events = self.homes[0].ok(&["events", "--json", "--since", "0", "-n", "100000000"]);
        let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let count = |task: &str, kind: &str| {
            let is_it = |event: &&Value| event["task"] == task && event["kind"] == kind;
            events.iter().filter(is_it).count()
        };
        let added = events.iter().filter(|event| event["kind"] == "task.added");
        let all: Vec<&str> = added.filter_map(|event| event["task"].as_str()).collect();
        for task in &all {
            let done = assert_in_turn(&events, task);
            let ends = done + count(task, "task.cancelled") + count(task, "task.failed");
            assert_eq!(ends, 1, "{task} ends once");
            let given_up =
                events.iter().find(|event| event["task"] == *task && event["kind"] == "task.failed");
            let is_tired = count(task, "task.started") > RETRIES;
            assert!(given_up.is_none() || is_tired, "{task} was given up too soon: {given_up:?}");
        }
        all.len()
    }
}

impl World {
    /// Prints what the store and the homes know about tasks that are not over.
    fn explain_open_tasks(&self) {
        let listed = self.homes[0].run(&["task", "list", "--limit", "1000", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
        let events = self.homes[0].run(&["events", "--json", "--since", "0", "-n", "100000000"]).stdout;
        for id in listed["tasks"].as_array().into_iter().flatten().filter_map(|task| task["id"].as_str()) {
            for home in &self.homes {
                eprintln!("{}", home.run(&["why", id]).stdout);
            }
            events.lines().filter(|event| event.contains(id)).for_each(|event| eprintln!("{event}"));
        }
        for home in &self.homes {
            eprintln!("live in {}: {:?}", home.home().display(), names(&home.home().join("live")));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let logs: Vec<PathBuf> = (0..self.logs.load(Ordering::Relaxed))
            .map(|number| self.folder.path().join(format!("runner-{number}.log")))
            .collect();
        if std::thread::panicking() {
            for log in logs.iter().rev().take(6) {
                eprintln!("{}:\n{}", log.display(), fs::read_to_string(log).unwrap_or_default());
            }
            self.explain_open_tasks();
        }
        for home in &self.homes {
            for left in processes::of_home(home.home()) {
                if std::thread::panicking() {
                    eprintln!("left: {left:?}");
                }
                processes::kill(left.pid);
            }
        }
    }
}
