//! Messages to an agent whose keeper is killed while it delivers them.

use std::fs;

use super::processes::kill;
use super::stage::Stage;

/// The agent was started with it, and nobody could say so: the next one is told.
#[test]
fn a_message_without_a_receipt_is_told_again() {
    let stage = Stage::new();
    let task = stage.add(&stage.steps());
    stage.fleet.ok(&["prompt", &task, "Mind the tests"]);
    let runner = stage.run(Some("keeper-launched"));
    let keeper = stage.wait_held("keeper-launched");
    let first = stage.live_run();
    let message = stage.task(&task)["messages"][0].clone();
    assert_eq!(
        (&message["state"], &message["run"]),
        (&"waiting".into(), &first.as_str().into()),
        "{message}"
    );
    kill(keeper);
    stage.give("go");
    stage.let_go("keeper-launched");
    stage.assert_well(&task, runner);
    let shown = stage.task(&task);
    let (message, runs) = (&shown["messages"][0], shown["runs"].as_array().unwrap());
    assert_eq!((&message["state"], &message["run"]), (&"seen".into(), &runs[1]["id"]), "{shown}");
    for run in runs {
        let folder = stage.home().join("runs").join(run["id"].as_str().unwrap());
        let told = fs::read_to_string(folder.join("prompt.md")).unwrap();
        assert_eq!(told.matches("Mind the tests").count(), 1, "{told}");
    }
    let told = stage.events().iter().filter(|event| event["kind"] == "run.prompted").count();
    assert_eq!(told, 1, "an agent had it once, as far as anybody knows");
}
