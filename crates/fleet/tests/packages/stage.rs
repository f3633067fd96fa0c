//! A release of the binary under test, and a clean folder to install it into.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fleet_dist::{Effort, Package, Release, VERSION};
use fleet_testkit::clis;
use fleet_testkit::fleet::Fleet;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Stage {
    pub(crate) release: Release,
    fleet: Fleet,
    folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("clean")).unwrap();
        let binary = folder.path().join("fleet");
        fs::copy(env!("CARGO_BIN_EXE_fleet"), &binary).unwrap();
        // Half of it is for debuggers, and would only be packed and unpacked.
        if cfg!(target_os = "linux") {
            let _ = program("strip").arg(&binary).output();
        }
        let release = Release::of(&binary, Effort::Fast).unwrap();
        Self { release, fleet: Fleet::new("fleet"), folder }
    }

    /// Where packages are installed: empty at first.
    pub(crate) fn clean(&self) -> PathBuf {
        self.folder.path().join("clean")
    }

    #[track_caller]
    pub(crate) fn write(&self, package: &Package) -> String {
        assert!(package.name.contains(VERSION), "{}", package.name);
        package.write_into(self.folder.path()).unwrap().to_str().unwrap().to_owned()
    }

    /// A program in a home of its own.
    pub(crate) fn fleet(&self, program: &Path) -> Fleet {
        self.fleet.with_program(program)
    }

    /// The same for a command: nothing of the developer's but `PATH`.
    pub(crate) fn private<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .envs(self.fleet.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
    }

    /// All names lead to the same program, and it works.
    #[track_caller]
    pub(crate) fn check_programs(&self, folder: &Path) {
        for name in ["fleet", "flt", "codefleet"] {
            assert_eq!(
                self.fleet(&folder.join(name)).ok(&["--version"]),
                format!("fleet {VERSION}\n"),
                "{name}"
            );
        }
        self.check_demo(&folder.join("fleet"));
    }

    /// It does its main job.
    #[track_caller]
    pub(crate) fn check_demo(&self, program: &Path) {
        let demo = self.fleet(program).json(&["demo"]);
        let tasks = demo["tasks"].as_array().unwrap();
        let is_done = |task: &Value| task["state"] == "done";
        assert!(tasks.len() > 2 && tasks.iter().all(is_done), "{demo:#}");
    }

    /// The manual and the completions are there.
    #[track_caller]
    pub(crate) fn check_shared(&self, folder: &str) {
        let folder = self.clean().join(folder);
        let files = [
            "man/man1/fleet.1",
            "man/man1/fleet-task-add.1",
            "bash-completion/completions/fleet",
            "zsh/site-functions/_fleet",
            "fish/vendor_completions.d/fleet.fish",
        ];
        for file in files {
            assert!(folder.join(file).exists(), "{file} is missing");
        }
    }
}

pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.stdin(Stdio::null());
    command
}

/// A program that this machine may lack; in CI it must not.
#[track_caller]
pub(crate) fn or_skip(name: &str) -> Option<Command> {
    let found = program(name).arg("--version").output().map(|_| program(name));
    clis::present_or_skip(found.map_err(|error| format!("cannot run {name}: {error}")))
}

#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
