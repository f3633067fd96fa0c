//! A repository, a home, and a runner that ends with the benchmark.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fleet_testkit::repo::Repo;
use tempfile::TempDir;

use crate::BenchSetting;

pub(super) struct RunRig {
    pub(super) repo: Repo,
    pub(super) dir: TempDir,
    fleet: PathBuf,
    runner: Option<Child>,
}

/// Longer than anything takes that is measured here.
const PATIENCE: Duration = Duration::from_mins(10);

impl RunRig {
    /// With this many files of about a kilobyte in the repository.
    pub(super) fn new(setting: &BenchSetting, files: usize) -> Self {
        let (repo, dir) = (Repo::init(), tempfile::tempdir().expect("a folder"));
        for number in 0..files {
            let folder = repo.path().join(format!("d{:03}", number / 100));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(format!("f{number}.txt")), format!("{number}\n").repeat(150))
                .expect("a file");
        }
        let rig = Self { repo, dir, fleet: setting.fleet.clone(), runner: None };
        rig.git(&["add", "-A"]);
        rig.git(&["commit", "-q", "--allow-empty", "-m", "files"]);
        rig
    }

    pub(super) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A file that does not exist yet.
    pub(super) fn mark(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.fleet);
        command.args(arguments).current_dir(self.repo.path());
        command.env("FLEET_HOME", self.home()).env("FLEET_AUTOSTART", "false");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(super) fn fleet(&self, arguments: &[&str]) {
        assert!(self.command(arguments).status().expect("it starts").success(), "fleet {arguments:?}");
    }

    pub(super) fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        let status =
            Command::new("git").args(identity).args(arguments).current_dir(self.repo.path()).status();
        assert!(status.expect("git starts").success(), "git {arguments:?}");
    }

    /// A runner, up when this returns.
    pub(super) fn start(&mut self, slots: &str) {
        self.runner = Some(self.command(&["run", "--slots", slots]).spawn().expect("a runner"));
        let runners = self.home().join("runners");
        wait("the runner is up", || fs::read_dir(&runners).is_ok_and(|mut entries| entries.next().is_some()));
    }

    /// Waits until no run is at work.
    pub(super) fn quiet(&self) {
        let live = self.home().join("live");
        wait("all runs are over", || fs::read_dir(&live).is_ok_and(|mut entries| entries.next().is_none()));
    }
}

impl Drop for RunRig {
    fn drop(&mut self) {
        let _ = self.command(&["stop", "--agents"]).status();
        if let Some(runner) = &mut self.runner {
            let _ = runner.wait();
        }
    }
}

/// Looks very often: what is measured is read from the files' own times.
pub(super) fn wait(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// What the demo agent is to do.
pub(super) fn script(steps: &str) -> String {
    format!("```demo\n{steps}\n```")
}

/// When a file was made, in milliseconds since some moment.
pub(super) fn made_at(path: &Path) -> f64 {
    let made = fs::metadata(path).and_then(|file| file.modified()).expect("a file");
    made.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs_f64() * 1_000.0
}
