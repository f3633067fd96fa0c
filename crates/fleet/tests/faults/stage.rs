//! A home, a repository, and the processes that a test lets work there.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fleet_testkit::fleet::{Fleet, binary};
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::{Value, json};

use super::processes;

/// Longer than anything here takes on the slowest machine.
pub(crate) const BOUND: Duration = Duration::from_secs(90);

/// Where the agent leaves what must not be lost; the second is in a folder of its own and hard to name.
pub(crate) const FILES: [(&str, &str); 2] =
    [("plain.txt", "not committed"), ("deep folder/-ö \u{2028}'*.txt", "not committed either")];

/// A place where runs can be disturbed.
pub(crate) struct Stage {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
    /// Where signs are given, outside of everything.
    pub(crate) signs: PathBuf,
    /// Where the user's checkout was at the beginning.
    pub(crate) head: String,
    logs: AtomicUsize,
}

impl Stage {
    /// With leases so short that nobody waits long for them.
    pub(crate) fn new() -> Self {
        let repo = Repo::init();
        let fleet = Fleet::new(binary(env!("CARGO_BIN_EXE_fleet"))).cwd(repo.path());
        fs::set_permissions(fleet.home(), Permissions::from_mode(0o700)).unwrap();
        let signs = fleet.user_home().join("signs");
        fs::create_dir(&signs).unwrap();
        let fleet = fleet.env("FLEET_RUNNER_LEASE_SECONDS", "2").env("FLEET_LIMITS_STOP_GRACE", "1s");
        // Some of them have small disks.
        let fleet = fleet.env("FLEET_ADMISSION_FREE_DISK", "none");
        let head = repo.git(&["rev-parse", "HEAD"]);
        let stage = Self { fleet, repo, signs, head, logs: AtomicUsize::new(0) };
        stage.set_traps();
        stage
    }

    /// Hooks of the user, which nothing but the user's own commands may run.
    fn set_traps(&self) {
        for name in
            ["post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"]
        {
            let hook = self.repo.path().join(".git/hooks").join(name);
            fs::create_dir_all(hook.parent().unwrap()).unwrap();
            fs::write(&hook, format!("#!/bin/sh\necho \"$0\" >> '{}'\n", self.sign("hook").display()))
                .unwrap();
            fs::set_permissions(&hook, Permissions::from_mode(0o755)).unwrap();
        }
    }

    pub(crate) fn home(&self) -> &Path {
        self.fleet.home()
    }

    /// A file that is a sign.
    pub(crate) fn sign(&self, name: &str) -> PathBuf {
        self.signs.join(name)
    }

    pub(crate) fn give(&self, name: &str) {
        fs::write(self.sign(name), "").unwrap();
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, name: &str) {
        wait_until(BOUND, &format!("the sign {name}"), || self.sign(name).exists());
    }

    /// Adds a task whose agent does these steps; failures are forgiven at once.
    #[track_caller]
    pub(crate) fn add(&self, steps: &str) -> String {
        self.add_with(steps, 9)
    }

    #[track_caller]
    pub(crate) fn add_with(&self, steps: &str, retries: u32) -> String {
        let task = json!({
            "title": "Work",
            "agent": "demo",
            "description": format!("```demo\n{steps}\n```"),
            "retry": { "retries": retries, "backoff_seconds": 0 },
        });
        let added = self.fleet.stdin(format!("{task}\n")).json(&["task", "import", "-"]);
        added["ids"][0].as_str().unwrap().to_owned()
    }

    /// The usual steps: writes at the first attempt only, says so, and waits for leave to end.
    pub(crate) fn steps(&self) -> String {
        let at = |name: &str| self.sign(name).display().to_string();
        let write = |(number, (path, text))| {
            format!("once {} write \"{path}\" {text}", at(&format!("wrote-{number}")))
        };
        let mut steps: Vec<String> = FILES.into_iter().enumerate().map(write).collect();
        steps.push(format!("touch {}\nwait-for {}\nsay Well done.", at("written"), at("go")));
        steps.join("\n")
    }

    /// Starts a runner that holds the first process which comes to a point, if one is named.
    pub(crate) fn run(&self, hold: Option<&str>) -> Running {
        self.run_with(hold, &["--slots", "4"])
    }

    pub(crate) fn run_with(&self, hold: Option<&str>, args: &[&str]) -> Running {
        let fleet = hold.map_or_else(|| self.fleet.clone(), |point| self.fleet.env("FLEET_TEST_HOLD", point));
        let number = self.logs.fetch_add(1, Ordering::Relaxed);
        let log = File::create(self.fleet.user_home().join(format!("runner-{number}.log"))).unwrap();
        let mut command = fleet.command(&[&["run"], args].concat());
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        Running::new(command.spawn().unwrap())
    }

    /// Another runner, in the place of one that was killed; it is up when this returns.
    #[track_caller]
    pub(crate) fn next_runner(&self) -> Running {
        let runner = self.run(None);
        let folder = self.home().join("runners");
        let pid_of = |name: &String| -> Option<i64> {
            let said: Value = serde_json::from_slice(&fs::read(folder.join(name)).ok()?).ok()?;
            said["process"]["pid"].as_i64()
        };
        let is_up = || names(&folder).iter().any(|name| pid_of(name) == Some(runner.pid().into()));
        wait_until(BOUND, "the next runner is up", is_up);
        runner
    }

    /// The file that says that a process is held, with its number in it.
    pub(crate) fn held(&self, point: &str) -> PathBuf {
        self.home().join(format!("held-at-{point}"))
    }

    /// Waits until somebody is held there, and returns who.
    #[track_caller]
    pub(crate) fn wait_held(&self, point: &str) -> i32 {
        let read = || fs::read_to_string(self.held(point)).ok()?.parse().ok();
        let mut pid = None;
        wait_until(BOUND, &format!("somebody at {point}"), || {
            pid = read();
            pid.is_some()
        });
        pid.unwrap()
    }

    /// Lets whoever is held go on, alive or not.
    pub(crate) fn let_go(&self, point: &str) {
        let _ = fs::remove_file(self.held(point));
    }

    /// A task whose first attempt did nothing and failed, and whose second is held at `keeper-planned`, between its plan
    /// and its workspace.
    #[track_caller]
    pub(crate) fn hold_second_attempt(&self) -> (String, Running) {
        self.give("go");
        let failed = self.sign("failed");
        let task = self.add(&format!("once {} exit 1\n{}", failed.display(), self.steps()));
        let runner = self.run(Some("keeper-planned"));
        self.wait_held("keeper-planned");
        fs::remove_file(self.home().join("came-to-keeper-planned")).unwrap();
        self.let_go("keeper-planned");
        self.wait_held("keeper-planned");
        wait_until(BOUND, "the first attempt is over", || self.live().len() == 1);
        (task, runner)
    }

    /// The one run that is at work, as its keeper wrote it down.
    #[track_caller]
    pub(crate) fn live_run(&self) -> String {
        let mut runs = self.live();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// The runs that are at work here, or that somebody has to tidy up after.
    pub(crate) fn live(&self) -> Vec<String> {
        names(&self.home().join("live"))
    }

    /// The process of a run's keeper.
    #[track_caller]
    pub(crate) fn keeper_pid(&self, run: &str) -> i32 {
        pid_in(&self.home().join("live").join(run), |said| &said["pid"])
    }

    /// The process of a run's agent.
    #[track_caller]
    pub(crate) fn agent_pid(&self, run: &str) -> i32 {
        pid_in(&self.run_folder(run).join("tree.json"), |said| &said["root"]["pid"])
    }

    pub(crate) fn run_folder(&self, run: &str) -> PathBuf {
        self.home().join("runs").join(run)
    }

    pub(crate) fn task(&self, id: &str) -> Value {
        self.fleet.json(&["task", "show", id, "--events", "1"])
    }

    pub(crate) fn status(&self, id: &str) -> String {
        self.task(id)["state"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn wait_status(&self, id: &str, status: &str) {
        let mut last = String::new();
        wait_until(BOUND, &format!("{id} is {status}"), || {
            last = self.status(id);
            last == status
        });
    }

    /// Nobody wants to wait until a failed attempt is forgotten.
    pub(crate) fn hasten(&self) {
        let late = self.fleet.json(&["task", "list", "--status", "scheduled"]);
        for task in late["tasks"].as_array().unwrap() {
            // It may have begun by now.
            self.fleet.run(&["task", "edit", task["id"].as_str().unwrap(), "--clear", "not-before"]);
        }
    }

    /// All events, the oldest first.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.fleet.ok(&["events", "--json", "--since", "0", "-n", "1000000"]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The worktrees that a run has, by the notes beside them.
    pub(crate) fn claims(&self) -> Vec<PathBuf> {
        let projects = fs::read_dir(self.home().join("worktrees")).into_iter().flatten().flatten();
        let inside =
            projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten().flatten());
        let notes = inside.map(|entry| entry.path());
        notes.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
    }

    /// The folder of the one worktree that is in use.
    #[track_caller]
    pub(crate) fn worktree(&self) -> PathBuf {
        let claims = self.claims();
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims[0].with_extension("")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
        for left in processes::of_home(self.home()) {
            processes::kill(left.pid);
        }
    }
}

impl Stage {
    /// What there is to know about a failure.
    fn tell(&self) {
        for number in 0..self.logs.load(Ordering::Relaxed) {
            let log = fs::read_to_string(self.fleet.user_home().join(format!("runner-{number}.log")));
            eprintln!("runner {number} said:\n{}", log.unwrap_or_default());
        }
        for run in names(&self.home().join("runs")) {
            let read = |name: &str| fs::read_to_string(self.run_folder(&run).join(name)).unwrap_or_default();
            let end: Value = serde_json::from_str(&read("ending.json")).unwrap_or_default();
            eprintln!("run {run}: {} {:?}", end["ending"], read("keeper.log"));
        }
        eprintln!("events:\n{}", self.fleet.run(&["events", "-n", "40"]).stdout);
        eprintln!("live {:?}, claims {:?}", self.live(), self.claims());
        eprintln!("processes {:#?}", processes::of_home(self.home()));
    }
}

/// A runner that a test started; killed when this is dropped, if it still runs.
pub(crate) struct Running {
    child: Child,
}

impl Running {
    pub(crate) const fn new(child: Child) -> Self {
        Self { child }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Kills it and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub(crate) fn wait(&mut self) {
        wait_until(BOUND, "the end of the runner", || self.child.try_wait().unwrap().is_some());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The branch of a task.
pub(crate) fn branch_of(task: &str) -> String {
    format!("refs/heads/fleet/{task}")
}

/// The names in a folder, which need not exist, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[track_caller]
fn pid_in(file: &Path, pick: impl Fn(&Value) -> &Value) -> i32 {
    let mut pid = None;
    wait_until(BOUND, &format!("a process in {}", file.display()), || {
        let said: Option<Value> = fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        pid = said.and_then(|said| pick(&said).as_i64());
        pid.is_some()
    });
    pid.and_then(|pid| i32::try_from(pid).ok()).unwrap()
}
