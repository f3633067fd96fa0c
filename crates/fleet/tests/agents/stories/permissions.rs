//! Agents in terminals that ask for permission, and people who answer from elsewhere.

use std::fs;

use fleet_testkit::clis::Cli;
use fleet_testkit::wait_until;
use serde_json::{Value, json};

use super::terminals::{BOUND, DETACH};
use crate::stage::Stage;

/// Switches between the modes of gemini.
const SHIFT_TAB: &str = "\x1b[Z";

/// Makes the agent ask before it writes a file, each in the way of its users. Where the file is to be.
fn asking(stage: &Stage, cli: Cli) -> String {
    let home = stage.fleet.user_home();
    match cli {
        // It asks about what is outside of its workspace.
        Cli::Claude => return format!("{}/", home.display()),
        // The model says that a command needs more than the sandbox; of gemini a person demands it, see below.
        Cli::Codex | Cli::Gemini => {}
        Cli::Opencode => {
            let path = home.join(".config/opencode/opencode.json");
            let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            settings["permission"] = json!({"edit": "ask"});
            fs::write(&path, settings.to_string()).unwrap();
        }
    }
    String::new()
}

/// Lets gemini ask before it writes: at its start it accepts edits.
fn switch_to_asking(stage: &Stage) {
    let person = stage.attached("t", 120, 40);
    for shown in ["Shift+Tab to plan", "plan Shift+Tab to manual", "Shift+Tab to accept edits"] {
        person.sees(shown);
        if shown != "Shift+Tab to accept edits" {
            person.types(SHIFT_TAB);
        }
    }
    person.types(DETACH);
    assert_eq!(person.leaves(), 0);
}

/// It wants to write where it may not, or its user wants to be asked: a person is, and answers from elsewhere with no, with
/// yes, and with yes for good.
pub(crate) fn asks_for_permission(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "ask")]) else { return };
    let folder = asking(&stage, cli);
    let _runner = stage.runner(&[]);
    stage.fleet.ok(&["create", "t", "--interactive", "--agent", cli.name()]);
    stage.wait_for_agent("t", "idle");
    if cli == Cli::Gemini {
        switch_to_asking(&stage);
    }
    let prompt = |name: &str| format!("Write the file TARGET={folder}{name}");
    let file = |name: &str| stage.workspace("t").join(format!("{folder}{name}"));
    stage.fleet.ok(&["prompt", "t", &prompt("denied.txt")]);
    stage.wait_for_agent("t", "asks_permission");
    for command in [&["why", "t"][..], &["list"]] {
        let shown = stage.fleet.ok(command);
        assert!(shown.contains("permission"), "{shown}");
    }
    stage.fleet.ok(&["deny", "t"]);
    stage.wait_for_agent("t", "idle");
    for (name, answer) in [("allowed.txt", &["allow", "t"][..]), ("always.txt", &["allow", "t", "--always"])]
    {
        stage.fleet.ok(&["prompt", "t", &prompt(name)]);
        stage.wait_for_agent("t", "asks_permission");
        assert!(!file(name).exists(), "nobody has allowed it");
        stage.fleet.ok(answer);
        wait_until(BOUND, "it was allowed", || file(name).exists());
        stage.wait_for_agent("t", "idle");
    }
    fs::remove_file(file("always.txt")).unwrap();
    stage.fleet.ok(&["prompt", "t", &prompt("always.txt")]);
    wait_until(BOUND, "it was allowed for good", || file("always.txt").exists());
    stage.wait_for_agent("t", "idle");
    assert!(!file("denied.txt").exists());
    let asked = stage.asked("t");
    assert_eq!(asked.len(), 3, "each dialog once, and none unasked: {asked:?}");
}
