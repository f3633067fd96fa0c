//! Two servers with a home each, a repository for each kind of work, and the agent on `PATH`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::python::Python;
use fleet_testkit::repo::Repo;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::BenchSetting;

const STUB: &str = include_str!("stub.sh");
/// As in the other benchmarks of runs.
const FILES: usize = 100;
/// Longer than anything takes that is measured here.
const PATIENCE: Duration = Duration::from_secs(30);
/// So often the end of something is asked for. Both are asked in the same way, because one of them knows no other.
const ASK: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    Ours,
    Theirs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerTask {
    Nothing,
    Change,
}

impl WorkerTask {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Nothing => "no-op",
            Self::Change => "with a change",
        }
    }
}

pub(super) struct McpRig {
    dir: TempDir,
    fleet: PathBuf,
}

impl McpRig {
    pub(super) fn new(setting: &BenchSetting) -> Result<Self, String> {
        Python::Original.command()?;
        let rig = Self { dir: tempfile::tempdir().expect("a folder"), fleet: setting.fleet.clone() };
        let programs = rig.dir.path().join("bin");
        fs::create_dir(&programs).expect("a folder");
        let stub = programs.join("codex");
        fs::write(&stub, STUB).expect("a file");
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("a file of ours");
        Ok(rig)
    }

    fn home(&self, whose: ServerKind) -> PathBuf {
        self.dir.path().join(format!("{whose:?}"))
    }

    /// Nothing of the developer's, the agent on `PATH`, room for all that is asked for at once.
    fn surround(&self, command: &mut Command, whose: ServerKind) {
        let programs = self.dir.path().join("bin");
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path)));
        command.env_clear().env("PATH", path.expect("folders without a colon"));
        command.env("HOME", self.dir.path()).env("OPENAI_API_KEY", "sk-dummy").env("LC_ALL", "C.UTF-8");
        command.current_dir(self.dir.path()).stderr(Stdio::null());
        match whose {
            ServerKind::Ours => command.env("FLEET_HOME", self.home(whose)),
            ServerKind::Theirs => {
                command.env("FLEET_BASE_DIR", self.home(whose)).env("FLEET_MAX_CONCURRENT", "1000")
            }
        };
    }

    pub(super) fn command(&self, whose: ServerKind) -> Command {
        let mut command = match whose {
            ServerKind::Ours => {
                let mut command = Command::new(&self.fleet);
                command.arg("mcp");
                command
            }
            ServerKind::Theirs => {
                let mut command = Python::Original.command().expect("it was there");
                command.args(["-c", "from codefleet.server import main; main()"]);
                command
            }
        };
        self.surround(&mut command, whose);
        command
    }

    pub(super) fn serve(&self, whose: ServerKind) -> Served {
        Served { whose, client: McpClient::start(self.command(whose)) }
    }
}

impl Drop for McpRig {
    fn drop(&mut self) {
        let mut stop = Command::new(&self.fleet);
        stop.args(["stop", "--agents"]);
        self.surround(&mut stop, ServerKind::Ours);
        let _ = stop.stdin(Stdio::null()).stdout(Stdio::null()).status();
    }
}

/// A repository in which the agent does this work.
pub(super) fn repository(work: WorkerTask) -> Repo {
    let repo = Repo::init();
    for number in 0..FILES {
        repo.write(format!("f{number}.txt"), format!("{number}\n").repeat(150));
    }
    if work == WorkerTask::Change {
        repo.write("stub-changes", "");
    }
    repo.commit("files");
    repo
}

pub(super) struct Served {
    pub(super) whose: ServerKind,
    pub(super) client: McpClient,
}

impl Served {
    /// Calls a tool and demands success.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.client.send_call(tool, arguments);
        self.answer(id)
    }

    /// The answer to a call that was sent.
    pub(super) fn answer(&mut self, id: u64) -> Value {
        let result = self.client.result(id);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let answer: Value = serde_json::from_str(text).unwrap_or_default();
        // Theirs tells of failures in an answer like any other.
        let failed = result["isError"] == true || answer.get("error").is_some();
        assert!(answer.is_object() && !failed, "{:?}: {result}", self.whose);
        answer
    }

    /// Asks again and again until it is over, and returns the last answer; nothing for one that the original has lost,
    /// which it says runs for ever.
    pub(super) fn until_over(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        let begun = Instant::now();
        loop {
            let answer = self.call(tool, arguments.clone());
            if !matches!(answer["status"].as_str(), Some("pending" | "running")) {
                return Some(answer);
            }
            if begun.elapsed() >= PATIENCE {
                assert_eq!(self.whose, ServerKind::Theirs, "not after {PATIENCE:?}: {answer}");
                return None;
            }
            thread::sleep(ASK);
        }
    }

    /// What the process takes, in MiB.
    pub(super) fn resident_mib(&self) -> f64 {
        let pid = self.client.pid().to_string();
        let output = Command::new("ps").args(["-o", "rss=", "-p", &pid]).output().expect("ps");
        let kib: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
        kib / 1_024.0
    }
}

/// What `create_worker` is asked for.
pub(super) fn order(repo: &Path) -> Value {
    json!({
        "repo_path": repo,
        "task_name": "stub",
        "prompt": "Do what you do.",
        "executor": "codex",
        "timeout_seconds": 900,
    })
}

pub(super) fn id(answer: &Value, name: &str) -> String {
    answer[name].as_str().expect("an id").to_owned()
}
