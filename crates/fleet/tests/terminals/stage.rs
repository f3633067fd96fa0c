//! A home, a repository and a runner, with agents in terminals.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use fleet_testkit::fleet::{Fleet, binary};
use fleet_testkit::person::Person;
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::Value;

/// Longer than anything here takes on the slowest machine.
pub(crate) const BOUND: Duration = Duration::from_secs(90);
/// The key that detaches: Ctrl-].
pub(crate) const DETACH: &[u8] = b"\x1d";

pub(crate) struct Stage {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
    runner: Option<Child>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self::without_runner("");
        stage.with_runner()
    }

    /// With more in the configuration.
    pub(crate) fn configured(config: &str) -> Self {
        Self::without_runner(config).with_runner()
    }

    /// With keepers that may stand still for a while.
    pub(crate) fn patient(config: &str) -> Self {
        let mut stage = Self::without_runner(config);
        stage.fleet = stage.fleet.env("FLEET_RUNNER_LEASE_SECONDS", "300");
        stage.with_runner()
    }

    fn without_runner(config: &str) -> Self {
        let repo = Repo::init();
        let fleet = Fleet::new(binary(env!("CARGO_BIN_EXE_fleet"))).cwd(repo.path());
        fs::set_permissions(fleet.home(), Permissions::from_mode(0o700)).unwrap();
        let config = format!("agent = \"demo\"\nautostart = false\n{config}");
        fs::write(fleet.home().join("config.toml"), config).unwrap();
        let fleet = fleet.env("FLEET_RUNNER_LEASE_SECONDS", "2").env("FLEET_LIMITS_STOP_GRACE", "1s");
        Self { fleet, repo, runner: None }
    }

    fn with_runner(mut self) -> Self {
        self.start_runner();
        self
    }

    pub(crate) fn start_runner(&mut self) {
        let log = File::options().create(true).append(true).open(self.fleet.user_home().join("runner.log"));
        let log = log.unwrap();
        let mut command = self.fleet.command(&["run", "--slots", "1"]);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.runner = Some(command.spawn().unwrap());
    }

    /// Kills the runner without a warning.
    pub(crate) fn kill_runner(&mut self) {
        let Some(mut runner) = self.runner.take() else { return };
        runner.kill().unwrap();
        runner.wait().unwrap();
    }

    /// Opens an agent on a branch, and waits until it takes a prompt.
    #[track_caller]
    pub(crate) fn open(&self, branch: &str) {
        self.fleet.ok(&["create", branch, "--interactive"]);
        self.wait_for_state(branch, "idle");
    }

    /// The newest run of a branch, as `fleet list` has it.
    #[track_caller]
    pub(crate) fn run_of(&self, branch: &str) -> Value {
        let listed = self.fleet.json(&["list", "--all"]);
        let runs = listed["runs"].as_array().unwrap();
        runs.iter().find(|run| run["branch"] == branch).cloned().unwrap_or(Value::Null)
    }

    /// What the agent of a branch does, by the last event about it.
    #[track_caller]
    pub(crate) fn state_of(&self, branch: &str) -> Option<String> {
        let shown = self.fleet.json(&["task", "show", branch, "--events", "1000"]);
        let events = shown["events"].as_array().unwrap();
        let last = events.iter().rev().find(|event| event["kind"] == "run.agent_state")?;
        Some(last["data"]["state"].as_str()?.to_owned())
    }

    #[track_caller]
    pub(crate) fn wait_for_state(&self, branch: &str, state: &str) {
        wait_until(BOUND, &format!("{branch} is {state}"), || {
            self.state_of(branch).as_deref() == Some(state)
        });
    }

    #[track_caller]
    pub(crate) fn wait_for_status(&self, branch: &str, status: &str) {
        let is_it = || self.fleet.json(&["task", "show", branch])["status"] == status;
        wait_until(BOUND, &format!("{branch} is {status}"), is_it);
    }

    /// What the terminal shows, as `fleet logs` prints it.
    #[track_caller]
    pub(crate) fn logs(&self, branch: &str) -> String {
        self.fleet.ok(&["logs", branch])
    }

    #[track_caller]
    pub(crate) fn wait_for_log(&self, branch: &str, what: &str) {
        // Until it has started there is no log.
        let is_shown = || self.fleet.run(&["logs", branch]).stdout.contains(what);
        wait_until(BOUND, &format!("{branch} shows {what:?}"), is_shown);
    }

    /// A person who attaches.
    #[track_caller]
    pub(crate) fn attach(&self, args: &[&str], columns: u16, rows: u16) -> Person {
        Person::run(self.fleet.command(&[&["attach"], args].concat()), columns, rows)
    }

    /// The process that keeps a run.
    #[track_caller]
    pub(crate) fn keeper_of(&self, branch: &str) -> i32 {
        i32::try_from(self.run_of(branch)["keeper"].as_i64().unwrap()).unwrap()
    }

    /// Kills a process without a warning.
    pub(crate) fn kill(pid: i32) {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    /// Stops a process, or lets it continue.
    pub(crate) fn pause(pid: i32, is_paused: bool) {
        let signal = if is_paused { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// The agents of this home that are alive, by the mark in their environment.
    pub(crate) fn agents(&self) -> Vec<String> {
        let door = format!("FLEET_DOOR={}/", self.fleet.home().display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_ours = |entry: &fs::DirEntry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one.starts_with(door.as_bytes()))
        };
        entries.filter(is_ours).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.fleet.run(&["kill", "*", "--yes", "--all-projects"]);
        self.kill_runner();
    }
}
