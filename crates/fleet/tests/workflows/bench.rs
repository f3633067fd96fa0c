//! What the tests here share.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fleet_testkit::fleet::{Fleet, Output, binary};
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::Value;

/// For slow machines; it comes within seconds.
pub(crate) const SOON: Duration = Duration::from_mins(2);

/// A repository, a home, and at times a runner. Nothing that it started outlives it.
pub(crate) struct Bench {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
    runner: Option<Child>,
    signs: tempfile::TempDir,
}

impl Bench {
    /// Where runners are started by those who need them.
    pub(crate) fn new() -> Self {
        let mut bench = Self::quiet();
        bench.fleet = bench.fleet.env("FLEET_AUTOSTART", "true");
        bench
    }

    /// Where nobody takes up work unless the test starts a runner.
    pub(crate) fn quiet() -> Self {
        let repo = Repo::init();
        let fleet = Fleet::new(binary(env!("CARGO_BIN_EXE_fleet"))).cwd(repo.path());
        let fleet = fleet.env("FLEET_AGENT", "demo").env("FLEET_TASKS_RETRIES", "0");
        let fleet = fleet.env("FLEET_LIMITS_STOP_GRACE", "1s").env("FLEET_RUNNER_SLOTS", "8");
        Self { fleet, repo, runner: None, signs: tempfile::tempdir().unwrap() }
    }

    /// A workflow of the user's own: a file outside of the repository.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.signs.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A file by which an agent gives a sign.
    pub(crate) fn sign(&self, name: &str) -> PathBuf {
        self.signs.path().join(name)
    }

    /// Follows a workflow of these stages to its end.
    pub(crate) fn follow(&self, stages: &str) -> Output {
        let file = self.file("w.toml", &format!("name = 'w'\ntask = 'Do it'\n{stages}"));
        self.fleet.run(&["workflow", "run", &file])
    }

    /// The same, which must succeed.
    #[track_caller]
    pub(crate) fn succeed(&self, stages: &str) -> Value {
        let output = self.follow(stages);
        assert_eq!(output.code, 0, "{output:?}\n{}", self.reasons());
        self.newest()
    }

    /// Starts a workflow of these stages, and leaves it.
    #[track_caller]
    pub(crate) fn start(&self, stages: &str) -> String {
        let file = self.file("w.toml", &format!("name = 'w'\ntask = 'Do it'\n{stages}"));
        let started = self.fleet.json(&["workflow", "run", &file, "--detach"]);
        started["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn show(&self, id: &str) -> Value {
        self.fleet.json(&["workflow", "show", id])
    }

    /// The workflow that was started last.
    #[track_caller]
    pub(crate) fn newest(&self) -> Value {
        let list = self.fleet.json(&["workflow", "list", "--all", "-n", "1"]);
        self.show(list["workflows"][0]["id"].as_str().unwrap())
    }

    /// Why runs failed, for the message of a test that fails.
    pub(crate) fn reasons(&self) -> String {
        self.fleet.run(&["task", "list", "--all"]).stdout
    }

    /// Waits until the workflow stands like this.
    #[track_caller]
    pub(crate) fn until(&self, id: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        wait_until(SOON, what, || {
            last = self.show(id);
            is_so(&last)
        });
        last
    }

    /// Waits for these signs of agents at work.
    #[track_caller]
    pub(crate) fn at_work(&self, names: &[&str]) {
        wait_until(SOON, "agents at work", || names.iter().all(|name| self.sign(name).exists()));
    }

    pub(crate) fn start_runner(&mut self) {
        let mut runner = self.fleet.command(&["run", "--slots", "8"]);
        let runner = runner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.runner = Some(runner);
    }

    /// As `kill -9` does.
    pub(crate) fn kill_runner(&mut self) {
        if let Some(mut runner) = self.runner.take() {
            let _ = runner.kill();
            let _ = runner.wait();
        }
    }

    /// A file as a branch has it.
    #[track_caller]
    pub(crate) fn read(&self, branch: &str, path: &str) -> String {
        self.repo.git(&["show", &format!("{branch}:{path}")])
    }

    /// The files that a branch has beside those of the repository.
    #[track_caller]
    pub(crate) fn files(&self, branch: &str) -> Vec<String> {
        let all = self.repo.git(&["ls-tree", "-r", "--name-only", branch]);
        all.lines().filter(|name| *name != "README.md").map(ToOwned::to_owned).collect()
    }

    /// What the agent of a stage was told.
    #[track_caller]
    pub(crate) fn prompt(&self, stage: &Value) -> String {
        let run = stage["run"].as_str().unwrap_or_else(|| panic!("a run: {stage}"));
        fs::read_to_string(self.fleet.home().join("runs").join(run).join("prompt.md")).unwrap()
    }

    /// The process that keeps the run of a stage.
    #[track_caller]
    pub(crate) fn keeper(&self, stage: &Value) -> i32 {
        let run = stage["run"].as_str().unwrap();
        let mark = fs::read_to_string(self.fleet.home().join("live").join(run)).unwrap();
        let keeper: Value = serde_json::from_str(&mark).unwrap();
        i32::try_from(keeper["pid"].as_i64().unwrap()).unwrap()
    }

    /// How many runs are not tidied up.
    pub(crate) fn marks(&self) -> usize {
        fs::read_dir(self.fleet.home().join("live")).into_iter().flatten().count()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.kill_runner();
        let _ = self.fleet.run(&["stop", "--agents"]);
    }
}

/// A stage whose agent does these steps.
pub(crate) fn stage(name: &str, settings: &str, steps: &str) -> String {
    format!("\n[stages.{name}]\n{settings}\nprompt = '''\nDo {name}.\n\n```demo\n{steps}\n```\n'''\n")
}

/// The stage of this name.
#[track_caller]
pub(crate) fn named<'v>(workflow: &'v Value, name: &str) -> &'v Value {
    let stages = workflow["stages"].as_array().unwrap();
    stages.iter().find(|stage| stage["name"] == name).unwrap_or_else(|| panic!("no {name}: {workflow}"))
}

/// The branch of the stage of this name.
#[track_caller]
pub(crate) fn branch(workflow: &Value, name: &str) -> String {
    named(workflow, name)["branch"].as_str().unwrap_or_else(|| panic!("no branch: {workflow}")).to_owned()
}

/// How all stages stand: `write done, review skipped`.
#[track_caller]
pub(crate) fn states(workflow: &Value) -> String {
    let stages = workflow["stages"].as_array().unwrap().iter();
    let one =
        |stage: &Value| format!("{} {}", stage["name"].as_str().unwrap(), stage["state"].as_str().unwrap());
    stages.map(one).collect::<Vec<_>>().join(", ")
}

/// Sends a signal to a process that a test started.
#[track_caller]
pub(crate) fn signal(pid: i32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "{name} to {pid}");
}

/// Whether a process is there and not over.
pub(crate) fn is_alive(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}
