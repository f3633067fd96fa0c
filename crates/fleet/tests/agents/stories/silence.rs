//! Agents that say nothing.

use fleet_testkit::clis::Cli;
use fleet_testkit::model::CONTENT;

use crate::stage::{Stage, WRITE};

/// A model that never answers, then one that falls silent: the conversation is taken up again each time, and goes well
/// in the end.
pub(crate) fn hangs_and_is_resumed(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "hang")]) else { return };
    let stage = stage.with("FLEET_LIMITS_IDLE", "3s");
    stage.server.switch_at(cli.name(), 2, "hangmid");
    stage.server.switch_at(cli.name(), 3, "ok");
    let task = stage.add(cli.name(), WRITE, 2);
    stage.work();
    assert_eq!(stage.status(&task), "done");
    let runs = stage.runs_of(&task);
    let reasons: Vec<_> = runs.iter().map(|run| run["reason"].as_str()).collect();
    assert_eq!(reasons, [None, Some("stale"), Some("stale")]);
    assert!(runs.iter().all(|run| run["session"] == runs[0]["session"]), "{runs:?}");
    assert_eq!(stage.committed(&task, "out.txt"), CONTENT);
    // Some agents send several prompts without an answer between them as one.
    let said = stage.questions(cli).pop().unwrap().talk.prompts().join("\n");
    let count = |words: &str| said.matches(words).count();
    assert_eq!((count("You work alone"), count("Your work was interrupted")), (1, 2), "{said}");
}

/// Whoever asks why is told.
pub(crate) fn hangs_for_good(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "hang")]) else { return };
    let stage = stage.with("FLEET_LIMITS_IDLE", "3s");
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    assert_eq!(
        (stage.run_of(&task)["reason"].as_str(), stage.status(&task).as_str()),
        (Some("stale"), "failed")
    );
    let why = stage.fleet.json(&["why", &task]);
    assert!(why["reason"] == "stale" && why["what"].as_str().unwrap().contains("3s"), "{why}");
}

/// A long command that says nothing and works is no hang.
pub(crate) fn works_in_silence(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "busy")]) else { return };
    let stage = stage.with("FLEET_LIMITS_IDLE", "3s");
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    let run = stage.run_of(&task);
    assert_eq!(run["state"], "succeeded", "{run}");
    assert_eq!(stage.committed(&task, "out.txt"), CONTENT);
}
