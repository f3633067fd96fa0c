//! What the tests here share.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fleet_testkit::fleet::{Fleet, binary};
use fleet_testkit::repo::Repo;

/// No attack may hold a run up for longer. It takes about a second on a quiet machine.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// A repository, a home, and an agent that does what a test writes down.
pub(crate) struct Stage {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let (repo, folder) = (Repo::init(), tempfile::tempdir().unwrap());
        repo.write("a.txt", "one\n");
        repo.write(".gitignore", "*.log\n");
        repo.commit("files");
        let fleet = Fleet::new(binary(env!("CARGO_BIN_EXE_fleet"))).cwd(repo.path());
        let fleet = fleet.env("FLEET_TASKS_RETRIES", "0").env("FLEET_LIMITS_STOP_GRACE", "1s");
        let stage = Self { fleet, repo, folder };
        let config =
            format!("[agents.script]\nprogram = '{}'\nprompt = 'stdin'\n", stage.path("agent.sh").display());
        fs::write(stage.fleet.home().join("config.toml"), config).unwrap();
        stage
    }

    /// A file beside everything.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command that gives itself away when it runs.
    pub(crate) fn trap(&self) -> String {
        format!("touch {}; cat", self.path("executed").display())
    }

    pub(crate) fn was_executed(&self) -> bool {
        self.path("executed").exists()
    }

    /// What the agent does from now on. It forgets its own traps: what counts is what runs after it.
    pub(crate) fn script(&self, lines: &str) {
        let script = format!("#!/bin/bash\nset -e\n{lines}\nrm -f {}\n", self.path("executed").display());
        fs::write(self.path("agent.sh"), script).unwrap();
        fs::set_permissions(self.path("agent.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// One run of the agent on a branch, to its end.
    #[track_caller]
    pub(crate) fn run(&self, branch: &str, lines: &str) {
        self.script(lines);
        let begun = Instant::now();
        let add = ["task", "add", "Task", "--agent", "script", "--branch", branch, "--retries", "0"];
        self.fleet.ok(&add);
        self.fleet.ok(&["run", "--until-idle"]);
        assert!(begun.elapsed() < SOON, "{branch} took {:?}", begun.elapsed());
    }

    /// What people are told about a run.
    pub(crate) fn remarks(&self, branch: &str) -> String {
        self.fleet.json(&["show", branch])["result"]["remarks"].to_string()
    }

    pub(crate) fn state(&self, branch: &str) -> String {
        self.fleet.json(&["show", branch])["state"].as_str().unwrap_or_default().to_owned()
    }

    /// The content of a file on a branch; empty if it is not there.
    pub(crate) fn content(&self, branch: &str, file: &str) -> String {
        let shown = fleet_testkit::repo::try_git_at(self.repo.path(), &["show", &format!("{branch}:{file}")]);
        shown.unwrap_or_default()
    }

    /// Whether a workspace that was kept as it is has such a file.
    pub(crate) fn is_kept(&self, file: &str) -> bool {
        let kept = fs::read_dir(self.fleet.home().join("worktrees/.kept")).into_iter().flatten().flatten();
        kept.into_iter().any(|entry| entry.path().join(file).symlink_metadata().is_ok())
    }

    /// Demands that both git directories are whole.
    #[track_caller]
    pub(crate) fn check_repositories(&self) {
        self.repo.git(&["fsck", "--full", "--strict"]);
        self.fleet.vault().git(&["fsck", "--full"]);
    }
}

/// All files below a folder with their content, by path.
pub(crate) fn everything(root: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut all = std::collections::BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                all.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else {
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    all
}
