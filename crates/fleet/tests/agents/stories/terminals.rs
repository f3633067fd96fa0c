//! Agents in their own interface, in terminals of two sizes.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fleet_testkit::clis::Cli;
use fleet_testkit::model::CONTENT;
use fleet_testkit::person::Person;
use fleet_testkit::wait_until;
use serde_json::Value;

use super::success::{cost_of_answer, per_answer, tokens};
use crate::stage::Stage;

/// Longer than any step here takes on a busy machine.
pub(super) const BOUND: Duration = Duration::from_mins(1);

const LOOK_INTERVAL: Duration = Duration::from_millis(100);

pub(super) const DETACH: &[u8] = b"\x1d";

/// What no agent may show unasked: dialogs of a first start.
const DIALOGS: &[&str] = &[
    "trust this folder",
    "Do you trust",
    "Trust this",
    "Select login",
    "theme",
    "API key?",
    "update available",
];

impl Stage {
    pub(super) fn run_on(&self, branch: &str) -> Value {
        let listed = self.fleet.json(&["list", "--all"]);
        listed["runs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|run| run["branch"] == branch)
            .cloned()
            .unwrap_or(Value::Null)
    }

    /// Waits for something that the list tells. Each look is a process, so there are few of them.
    #[track_caller]
    pub(super) fn wait_for_run(&self, branch: &str, what: &str, is_it: impl Fn(&Value) -> bool) {
        wait_until(BOUND, what, || {
            is_it(&self.run_on(branch)) || {
                thread::sleep(LOOK_INTERVAL);
                false
            }
        });
    }

    #[track_caller]
    pub(super) fn wait_for_agent(&self, branch: &str, state: &str) {
        let what = format!("{branch} is {state}");
        self.wait_for_run(branch, &what, |run| run["agent_state"]["state"] == state);
    }

    /// What the agent of a branch has asked so far, and what its screen was taken to ask.
    #[track_caller]
    pub(super) fn asked(&self, branch: &str) -> Vec<String> {
        let shown = self.fleet.json(&["task", "show", branch, "--events", "1000"]);
        let events = shown["events"].as_array().unwrap().iter();
        let states = events.filter(|event| event["kind"] == "run.agent_state").map(|event| &event["data"]);
        let asked = states.filter(|data| data["state"].as_str().unwrap().starts_with("asks"));
        asked.map(|data| format!("{}: {}", data["state"], data["text"])).collect()
    }

    /// What runs that have ended left beside their records and their branches: sockets, also those of agents, marks, and
    /// files in workspaces.
    fn left_over(&self) -> Vec<PathBuf> {
        let (home, user) = (self.fleet.home(), self.fleet.user_home());
        let is_socket =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
        let sockets = find(&home.join("runs"), is_socket).into_iter().chain(find(user, is_socket));
        let marks = find(&home.join("live"), |_| true);
        let files = find(&home.join("worktrees"), |path| path.ends_with("one.txt"));
        sockets.chain(marks).chain(files).collect()
    }

    /// All runs of a task together used what the model said, and cost that.
    #[track_caller]
    fn counted_once(&self, cli: Cli, task: &str) {
        let answers = self.questions(cli).len() as u64;
        let runs = self.runs_of(task);
        assert_eq!(runs.len(), 3, "{runs:?}");
        assert_eq!(self.tokens_of(task), self.tokens_served(cli), "{answers} answers: {runs:?}");
        if cli != Cli::Claude {
            // It has its own list of prices.
            let cost = cost_of_answer(cli) * answers;
            let counted = runs.iter().map(|run| run["micro_usd"].as_u64().unwrap()).sum::<u64>();
            assert!(counted.abs_diff(cost) <= answers, "{cost}: {runs:?}");
        }
    }

    /// The tokens that went into the model and came out of it, as counted in all runs of a task.
    fn tokens_of(&self, task: &str) -> [u64; 2] {
        let runs = self.runs_of(task);
        ["input_tokens", "output_tokens"]
            .map(|name| runs.iter().map(|run| run[name].as_u64().unwrap()).sum::<u64>())
    }

    /// The same, as the model has reported it.
    fn tokens_served(&self, cli: Cli) -> [u64; 2] {
        let answers = self.questions(cli).len() as u64;
        per_answer(cli).map(|tokens| answers * tokens)
    }

    #[track_caller]
    pub(super) fn workspace(&self, branch: &str) -> PathBuf {
        Path::new(self.run_on(branch)["workspace"].as_str().unwrap()).to_owned()
    }

    #[track_caller]
    pub(super) fn wait_for_file(&self, branch: &str, name: &str) {
        let path = self.workspace(branch).join(name);
        wait_until(BOUND, name, || fs::read_to_string(&path).is_ok_and(|text| text.trim() == CONTENT.trim()));
    }

    #[track_caller]
    pub(super) fn attached(&self, branch: &str, columns: u16, rows: u16) -> Person {
        Person::run(self.fleet.command(&["attach", branch]), columns, rows)
    }
}

/// What is in a directory and below, as far as it is there, and as it should be.
fn find(place: &Path, is_it: impl Fn(&Path) -> bool + Copy) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let found = entries.map(|entry| (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir())));
    found
        .flat_map(|(path, is_folder)| {
            let below = if is_folder { find(&path, is_it) } else { Vec::new() };
            below.into_iter().chain((!is_folder && is_it(&path)).then_some(path))
        })
        .collect()
}

/// Created with a prompt, prompted again, looked at by two people, killed: and nothing asks, and nothing is left.
pub(crate) fn works_in_its_own_interface(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let _runner = stage.runner(&[]);
    let create =
        ["create", "t", "--interactive", "--agent", cli.name(), "-p", "Write the file TARGET=one.txt"];
    stage.fleet.ok(&create);
    stage.wait_for_run("t", "a run", |run| run["workspace"].is_string());
    stage.wait_for_file("t", "one.txt");
    stage.wait_for_agent("t", "idle");
    let (small, large) = (stage.attached("t", 80, 24), stage.attached("t", 200, 50));
    for person in [&small, &large] {
        person.sees("one.txt");
    }
    stage.fleet.ok(&["prompt", "t", "Now write\nthe file TARGET=two.txt"]);
    stage.wait_for_file("t", "two.txt");
    stage.wait_for_agent("t", "idle");
    small.types(DETACH);
    small.sees("detached");
    large.sees_when("an interface in a larger terminal", |screen| screen.lines().count() > 10);
    for dialog in DIALOGS {
        assert!(!large.screen().contains(dialog), "{}", large.screen());
    }
    assert!(stage.asked("t").is_empty(), "nothing is asked");
    let seen = || stage.fleet.json(&["task", "show", "t"])["messages"][0]["state"] == "seen";
    wait_until(BOUND, "the receipt of the second prompt", seen);
    let used = per_answer(cli).map(|tokens| 4 * tokens);
    stage.wait_for_run("t", "what was used", |run| tokens(run) == used);
    stage.fleet.ok(&["kill", "t", "--yes"]);
    assert_eq!(large.leaves(), 0);
    wait_until(BOUND, "no process is left", || stage.processes().is_empty());
    stage.wait_for_run("t", "the end", |run| run["ended_at"].is_string());
    wait_until(BOUND, "nothing is left over", || stage.left_over().is_empty());
    let is_published = || !stage.repo.git(&["branch", "--list", "t"]).is_empty();
    wait_until(BOUND, "the branch", is_published);
    for file in ["one.txt", "two.txt"] {
        assert_eq!(format!("{}\n", stage.repo.git(&["show", &format!("t:{file}")])), CONTENT);
    }
}

/// Headless, taken over in the middle, continued there, given back: one conversation, nothing said twice.
pub(crate) fn taken_over_and_given_back(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let _runner = stage.runner(&[]);
    stage.fleet.ok(&["create", "t", "--agent", cli.name(), "-p", "Write the file TARGET=one.txt"]);
    let first = stage.run_on("t");
    let person = Person::run(stage.fleet.command(&["attach", "t", "--takeover"]), 120, 40);
    stage.wait_for_run("t", "the second run", |run| run["attempt"] == 2);
    stage.wait_for_agent("t", "idle");
    let asked = stage.questions(cli).len();
    stage.fleet.ok(&["prompt", "t", "Now write the file TARGET=two.txt"]);
    stage.wait_for_file("t", "two.txt");
    stage.wait_for_agent("t", "idle");
    assert!(stage.questions(cli).len() > asked);
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
    stage.wait_for_run("t", "one conversation", |run| run["session"] == first["session"]);
    // What nobody has confirmed would be told again.
    wait_until(BOUND, "the receipt", || {
        stage.fleet.json(&["task", "show", "t"])["messages"][0]["state"] == "seen"
    });
    // Agents write their records a moment after they have shown an answer: what they had no time for is not counted.
    let task = first["task"].as_str().unwrap();
    wait_until(BOUND, "the tokens of the terminal", || stage.tokens_of(task) == stage.tokens_served(cli));
    stage.fleet.ok(&["headless", "t"]);
    stage.wait_for_run("t", "the third run", |run| run["attempt"] == 3 && run["ended_at"].is_string());
    stage.wait_for_run("t", "the same conversation again", |run| run["session"] == first["session"]);
    let prompts = stage.server.requests(cli.name());
    let told = prompts.last().map(|request| request.body.to_string().matches("TARGET=two.txt").count());
    assert_eq!(told, Some(1), "nothing is said twice");
    stage.counted_once(cli, task);
}
