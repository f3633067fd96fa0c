//! A home with agents that talk to a scripted model, a repository, and the fleet that works there.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use fleet_testkit::clis::{Cli, on_a_plan};
use fleet_testkit::fleet::Fleet;
use fleet_testkit::model::{ModelServer, Request};
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::{Value, json};

/// Longer than anything here takes, on a machine that is busy with everything else.
pub(crate) const BOUND: Duration = Duration::from_mins(3);

/// A task that every model here understands.
pub(crate) const WRITE: &str = "Write the file TARGET=out.txt";

/// What a user has set up: agents that do not insist for minutes, a model that needs no choosing, and nothing that asks
/// for attention.
const CONFIG: &str = r#"
agent = "demo"

[limits]
stop_grace = "2s"

[agents.claude]
model = "sonnet"
env.CLAUDE_CODE_MAX_RETRIES = "1"

[agents.codex]
model = "fake-model"

[agents.gemini]
model = "gemini-2.5-flash"

[agents.gemini-acp]
program = "gemini"
args = ["--acp", "--skip-trust", "--model={model}"]
output = "acp"
provider = "google"
model = "gemini-2.5-flash"
pass_env = ["GEMINI_*", "GOOGLE_*"]

[agents.opencode-acp]
program = "opencode"
args = ["acp"]
output = "acp"
provider = "opencode"
pass_env = ["OPENCODE_*"]
"#;

/// What the models cost, for agents that do not tell; opencode's settings have the same.
const PRICES: &str = r#"
[models."fake-model"]
input = 3
output = 15
cache_read = 0.3

[models."gemini-2.5-flash"]
input = 3
output = 15
cache_read = 0.3
"#;

/// Where agents work.
pub(crate) struct Stage {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
    pub(crate) server: ModelServer,
}

impl Stage {
    /// With these agents, each with its own model; none when one of them is not installed.
    pub(crate) fn new(agents: &[(Cli, &str)]) -> Option<Self> {
        for (cli, _) in agents {
            cli.or_skip()?;
        }
        let (repo, server) = (Repo::init(), ModelServer::start());
        let mut fleet = Fleet::new(env!("CARGO_BIN_EXE_fleet")).cwd(repo.path());
        fs::set_permissions(fleet.home(), Permissions::from_mode(0o700)).unwrap();
        fs::write(fleet.home().join("config.toml"), CONFIG).unwrap();
        fs::write(fleet.home().join("prices.toml"), PRICES).unwrap();
        for (cli, scenario) in agents {
            let environment = cli.environment(&server.base(scenario, cli.name()), fleet.user_home());
            // Only with a plan does claude understand that it is used up.
            let is_on_plan = *cli == Cli::Claude && *scenario == "quota";
            let environment = if is_on_plan { on_a_plan(environment) } else { environment };
            fleet = environment.iter().fold(fleet, |fleet, (name, value)| fleet.env(name, value));
            shorten(*cli, scenario, fleet.user_home());
        }
        Some(Self { fleet, repo, server })
    }

    /// The same with one more variable, which may be a setting.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.fleet = self.fleet.env(name, value);
        self
    }

    /// Adds a task that failures do not hold up, and returns its id.
    #[track_caller]
    pub(crate) fn add(&self, agent: &str, title: &str, retries: u32) -> String {
        let retry = json!({"retries": retries, "backoff_seconds": 0});
        let task = json!({"title": title, "agent": agent, "retry": retry});
        let added = self.fleet.stdin(format!("{task}\n")).json(&["task", "import", "-"]);
        added["ids"][0].as_str().unwrap().to_owned()
    }

    /// Lets a runner do what there is to do now.
    #[track_caller]
    pub(crate) fn work(&self) {
        let mut runner = self.runner(&["--until-idle"]);
        wait_until(BOUND, "the runner has nothing to do", || runner.child.try_wait().unwrap().is_some());
    }

    /// Starts a runner.
    pub(crate) fn runner(&self, args: &[&str]) -> Runner {
        let path = self.fleet.user_home().join("runner.log");
        let log = OpenOptions::new().create(true).append(true).open(path).unwrap();
        let mut command = self.fleet.command(&[&["run", "--slots", "4"], args].concat());
        command.stdin(Stdio::null()).stdout(File::try_clone(&log).unwrap()).stderr(log);
        Runner { child: command.spawn().unwrap() }
    }

    /// The runs of a task, the newest first, as `fleet list` has them.
    #[track_caller]
    pub(crate) fn runs_of(&self, task: &str) -> Vec<Value> {
        let listed = self.fleet.json(&["list", "--all"]);
        let runs = listed["runs"].as_array().unwrap().iter();
        runs.filter(|run| run["task"] == task).cloned().collect()
    }

    /// The newest run of a task.
    #[track_caller]
    pub(crate) fn run_of(&self, task: &str) -> Value {
        self.runs_of(task).into_iter().next().unwrap_or_else(|| panic!("{task} was never started"))
    }

    /// Waits until a run of the task has ended.
    #[track_caller]
    pub(crate) fn wait_for_end(&self, task: &str) {
        let has_ended = || self.runs_of(task).first().is_some_and(|run| run["ended_at"].is_string());
        wait_until(BOUND, "the end of a run", has_ended);
    }

    /// Where a task stands.
    #[track_caller]
    pub(crate) fn status(&self, task: &str) -> String {
        self.fleet.json(&["task", "show", task])["status"].as_str().unwrap().to_owned()
    }

    /// What happened to a task, in words for kinds of events.
    #[track_caller]
    pub(crate) fn kinds_of(&self, task: &str) -> Vec<String> {
        let shown = self.fleet.json(&["task", "show", task, "--events", "1000"]);
        let events = shown["events"].as_array().unwrap().iter();
        events.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
    }

    /// What is known of an agent.
    #[track_caller]
    pub(crate) fn agent(&self, name: &str) -> Value {
        self.fleet.json(&["agents", "show", name])
    }

    /// The agents of this home that are at work, and what they started, known by the door of their run. None on
    /// systems that do not show it.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = "FLEET_RUN=";
        let door = format!("FLEET_DOOR={}/", self.fleet.home().display());
        let read = |entry: &fs::DirEntry, name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let has = |bytes: &[u8], text: &str| {
            bytes.split(|byte| *byte == 0).any(|part| part.starts_with(text.as_bytes()))
        };
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = all.filter(|entry| {
            let environment = read(entry, "environ");
            has(&environment, mark) && has(&environment, &door)
        });
        ours.map(|entry| String::from_utf8_lossy(&read(&entry, "cmdline")).replace('\0', " ")).collect()
    }

    /// What is in a file on the branch of a task.
    #[track_caller]
    pub(crate) fn committed(&self, task: &str, path: &str) -> String {
        let branch = self.run_of(task)["branch"].as_str().unwrap().to_owned();
        // Without the newline that git's output ends with, and the file too.
        format!("{}\n", self.repo.git(&["show", &format!("{branch}:{path}")]))
    }

    /// What the main loop of an agent has asked.
    pub(crate) fn questions(&self, cli: Cli) -> Vec<Request> {
        self.server.questions(cli.name())
    }

    /// What there is to know about a failure.
    fn tell(&self) {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        eprintln!("runner:\n{}", read(&self.fleet.user_home().join("runner.log")));
        eprintln!("events:\n{}", self.fleet.run(&["events", "-n", "60"]).stdout);
        for run in self.fleet.json(&["list"])["runs"].as_array().into_iter().flatten() {
            let id = run["id"].as_str().unwrap_or_default();
            eprintln!("the end of {id}:\n{}", self.fleet.run(&["logs", id, "-n", "50"]).stdout);
        }
        for run in fs::read_dir(self.fleet.home().join("runs")).into_iter().flatten().flatten() {
            for name in ["keeper.log", "stdout.log", "stderr.log", "ending.json"] {
                let text = read(&run.path().join(name));
                let end = text.floor_char_boundary(text.len().saturating_sub(6_000));
                eprintln!("{} {name}:\n{}", run.file_name().display(), &text[end..]);
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
        // What a test left at work goes with it.
        self.fleet.run(&["stop", "--agents"]);
    }
}

/// Settings of the user's own by which an agent gives up sooner than it would.
fn shorten(cli: Cli, scenario: &str, home: &Path) {
    match cli {
        Cli::Codex => {
            // Its last table is that of the provider.
            let mut settings = OpenOptions::new().append(true).open(home.join(".codex/config.toml")).unwrap();
            settings.write_all(b"request_max_retries = 1\nstream_max_retries = 1\n").unwrap();
        }
        Cli::Gemini => {
            let path = home.join(".gemini/settings.json");
            let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            // It believes whoever says when to come back, however long that is.
            let attempts = if scenario.contains("x1") { 2 } else { 1 };
            settings["general"]["maxAttempts"] = attempts.into();
            fs::write(&path, settings.to_string()).unwrap();
        }
        Cli::Claude | Cli::Opencode => {}
    }
}

/// A runner, which ends when this is dropped. Its agents do not.
pub(crate) struct Runner {
    child: Child,
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long the agent of a run was at work.
#[track_caller]
pub(crate) fn seconds_of(run: &Value) -> i64 {
    seconds_between(&run["started_at"], &run["ended_at"])
}

/// How long it is from one moment to another.
#[track_caller]
pub(crate) fn seconds_between(from: &Value, to: &Value) -> i64 {
    let [from, to] = [from, to].map(|moment| moment.as_str().unwrap().parse::<jiff::Timestamp>().unwrap());
    to.duration_since(from).as_secs()
}
