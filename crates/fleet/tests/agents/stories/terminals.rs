//! Agents in their own interface, in terminals of two sizes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_testkit::clis::Cli;
use fleet_testkit::model::{CONTENT, USAGE};
use fleet_testkit::person::Person;
use fleet_testkit::wait_until;
use serde_json::Value;

use crate::stage::Stage;

/// Longer than any step here takes on a busy machine.
const BOUND: Duration = Duration::from_mins(1);

const DETACH: &[u8] = b"\x1d";

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
    fn run_on(&self, branch: &str) -> Value {
        let listed = self.fleet.json(&["list", "--all"]);
        listed["runs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|run| run["branch"] == branch)
            .cloned()
            .unwrap_or(Value::Null)
    }

    #[track_caller]
    fn wait_for_agent(&self, branch: &str, state: &str) {
        let is_it = || self.run_on(branch)["agent_state"]["state"] == state;
        wait_until(BOUND, &format!("{branch} is {state}"), is_it);
    }

    #[track_caller]
    fn workspace(&self, branch: &str) -> PathBuf {
        Path::new(self.run_on(branch)["workspace"].as_str().unwrap()).to_owned()
    }

    #[track_caller]
    fn wait_for_file(&self, branch: &str, name: &str) {
        let path = self.workspace(branch).join(name);
        wait_until(BOUND, name, || fs::read_to_string(&path).is_ok_and(|text| text.trim() == CONTENT.trim()));
    }

    #[track_caller]
    fn attached(&self, branch: &str, columns: u16, rows: u16) -> Person {
        Person::run(self.fleet.command(&["attach", branch]), columns, rows)
    }
}

/// Created with a prompt, prompted again, looked at by two people, killed: and nothing asks, and nothing is left.
pub(crate) fn works_in_its_own_interface(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let _runner = stage.runner(&[]);
    let create =
        ["create", "t", "--interactive", "--agent", cli.name(), "-p", "Write the file TARGET=one.txt"];
    stage.fleet.ok(&create);
    wait_until(BOUND, "a run", || stage.run_on("t")["workspace"].is_string());
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
    let seen = || stage.fleet.json(&["task", "show", "t"])["messages"][0]["state"] == "seen";
    wait_until(BOUND, "the receipt of the second prompt", seen);
    wait_until(BOUND, "what was used", || {
        stage.run_on("t")["input_tokens"].as_u64().unwrap_or(0) >= 2 * USAGE.input
    });
    stage.fleet.ok(&["kill", "t", "--yes"]);
    assert_eq!(large.leaves(), 0);
    wait_until(BOUND, "no process is left", || stage.processes().is_empty());
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
    wait_until(BOUND, "the second run", || stage.run_on("t")["attempt"] == 2);
    stage.wait_for_agent("t", "idle");
    let asked = stage.questions(cli).len();
    stage.fleet.ok(&["prompt", "t", "Now write the file TARGET=two.txt"]);
    stage.wait_for_file("t", "two.txt");
    stage.wait_for_agent("t", "idle");
    assert!(stage.questions(cli).len() > asked);
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
    wait_until(BOUND, "one conversation", || stage.run_on("t")["session"] == first["session"]);
    // What nobody has confirmed would be told again.
    wait_until(BOUND, "the receipt", || {
        stage.fleet.json(&["task", "show", "t"])["messages"][0]["state"] == "seen"
    });
    stage.fleet.ok(&["headless", "t"]);
    wait_until(BOUND, "the third run has ended", || {
        let run = stage.run_on("t");
        run["attempt"] == 3 && run["ended_at"].is_string()
    });
    wait_until(BOUND, "the same conversation again", || stage.run_on("t")["session"] == first["session"]);
    let prompts = stage.server.requests(cli.name());
    let told = prompts.last().map(|request| request.body.to_string().matches("TARGET=two.txt").count());
    assert_eq!(told, Some(1), "nothing is said twice");
}

/// It wants to write where it may not, or its user wants to be asked: a person is, and answers from elsewhere.
pub(crate) fn asks_for_permission(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let _runner = stage.runner(&[]);
    let target = match cli {
        Cli::Claude => stage.fleet.user_home().join("outside.txt").display().to_string(),
        Cli::Codex | Cli::Gemini | Cli::Opencode => {
            let path = stage.fleet.user_home().join(".config/opencode/opencode.json");
            let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            settings["permission"] = serde_json::json!({"edit": "ask"});
            fs::write(&path, settings.to_string()).unwrap();
            "asked.txt".to_owned()
        }
    };
    let prompt = format!("Write the file TARGET={target}");
    stage.fleet.ok(&["create", "t", "--interactive", "--agent", cli.name(), "-p", &prompt]);
    wait_until(BOUND, "a run", || stage.run_on("t")["workspace"].is_string());
    let file = stage.workspace("t").join(&target);
    stage.wait_for_agent("t", "asks_permission");
    assert!(!file.exists(), "nobody has allowed it");
    let why = stage.fleet.ok(&["why", "t"]);
    assert!(why.contains("permission"), "{why}");
    let listed = stage.fleet.ok(&["list"]);
    assert!(listed.contains("permission"), "{listed}");
    stage.fleet.ok(&["allow", "t"]);
    wait_until(BOUND, "it was allowed", || file.exists());
    stage.wait_for_agent("t", "idle");
}
