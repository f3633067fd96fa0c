//! Conversations that go on, where they can, and agents that are somewhere else.

use std::fs;
use std::path::Path;

use fleet_testkit::clis::Cli;
use fleet_testkit::model::CONTENT;
use fleet_testkit::wait_until;
use serde_json::json;

use crate::stage::{BOUND, Stage};

/// The workspace of a task is another task's by the time somebody has more to say: nothing of the first may get into it.
pub(crate) fn told_while_its_workspace_is_taken(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let task = stage.add(cli.name(), "Write TARGET=one.txt", 0);
    stage.work();
    let first = stage.run_of(&task);
    let script = json!({"title": "Wait", "description": "```demo\nhang\n```", "agent": "demo"});
    let other = stage.fleet.stdin(format!("{script}\n")).json(&["task", "import", "-"]);
    let (other, _runner) = (other["ids"][0].as_str().unwrap(), stage.runner(&[]));
    wait_until(BOUND, "the other task is at work", || {
        stage.runs_of(other).first().is_some_and(|run| run["state"] == "running")
    });
    let taken = stage.run_of(other)["workspace"].as_str().unwrap().to_owned();
    let workspaces = fs::read_dir(Path::new(&taken).parent().unwrap()).unwrap().flatten();
    let folders = workspaces.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).count();
    assert_eq!(folders, 1, "the first is free again, and taken");
    stage.fleet.ok(&["prompt", &task, "Now write TARGET=two.txt"]);
    wait_until(BOUND, "the task is done again", || {
        stage.runs_of(&task).len() == 2 && stage.status(&task) == "done"
    });
    assert!(!Path::new(&taken).join("two.txt").exists(), "it wrote into somebody else's workspace");
    for file in ["one.txt", "two.txt"] {
        assert_eq!(stage.committed(&task, file), CONTENT);
    }
    let second = stage.run_of(&task);
    assert_eq!(second["state"], "succeeded", "{second}");
    let goes_on = matches!(cli, Cli::Claude | Cli::Codex);
    assert_eq!(second["session"] == first["session"], goes_on, "{first} {second}");
    let said = stage.questions(cli).pop().unwrap().talk.prompts().join("\n");
    assert_eq!(said.contains("This is attempt 2. What the one before it reported: "), !goes_on, "{said}");
}

/// The agent has lost the conversation: it begins a new one in the same run, and nobody's retries are used up.
pub(crate) fn its_conversation_is_gone(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "multi")]) else { return };
    let task = stage.add(cli.name(), "Write TARGET=one.txt", 0);
    stage.work();
    for kept in [".claude/projects", ".codex/sessions", ".gemini/tmp", ".local/share/opencode"] {
        let _ = fs::remove_dir_all(stage.fleet.user_home().join(kept));
    }
    stage.fleet.ok(&["prompt", &task, "Now write TARGET=two.txt"]);
    stage.work();
    let runs = stage.runs_of(&task);
    assert_eq!((runs.len(), &runs[0]["state"]), (2, &"succeeded".into()), "{runs:?}");
    for file in ["one.txt", "two.txt"] {
        assert_eq!(stage.committed(&task, file), CONTENT);
    }
    assert_ne!(runs[0]["session"], runs[1]["session"]);
    let events = stage.fleet.ok(&["logs", &task]);
    assert!(stage.kinds_of(&task).contains(&"run.warned".to_owned()), "{events}");
    let said = stage.questions(cli).pop().unwrap().talk.prompts().join("\n");
    assert!(said.contains("You work alone") && said.contains("Now write TARGET=two.txt"), "{said}");
}

/// Whatever an agent may do, the checkout of its user is not its workspace.
pub(crate) fn writes_into_the_checkout(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "ok")]) else { return };
    let stage = stage.with(&format!("FLEET_AGENTS_{}_TRUST", cli.name().to_uppercase()), "full");
    let stray = stage.repo.path().join("stray.txt");
    let task = stage.add(cli.name(), &format!("Write the file TARGET={}", stray.display()), 3);
    stage.work();
    let runs = stage.runs_of(&task);
    assert_eq!((runs.len(), &runs[0]["reason"]), (1, &"outside_workspace".into()), "{runs:?}");
    assert_eq!(stage.status(&task), "failed");
    let why = stage.fleet.ok(&["why", &task]);
    assert!(why.contains("stray.txt, which is outside its workspace"), "{why}");
}
