//! A store that is out of reach for a while.

use std::fs;

use fleet_testkit::postgres::{Database, Options, Server};
use fleet_testkit::wait_until;

use super::processes::is_alive;
use super::stage::{BOUND, Stage};

/// A stage on a server of its own.
fn stage() -> (Server, Database, Stage) {
    let server = Server::launch(&Options { fsync: false, ..Options::default() }).unwrap();
    let database = server.database();
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_STORE", database.url());
    (server, database, stage)
}

/// The server is away for longer than a lease, and the agent ends meanwhile: everything that it said and declared is
/// there afterwards, and nobody was killed.
#[test]
fn heavy_the_server_is_away_while_the_agent_ends() {
    let (server, _database, stage) = stage();
    let at = |name: &str| stage.sign(name).display().to_string();
    let said: Vec<String> = (0..50).map(|line| format!("say line {line}")).collect();
    // Without the declaration, an end with status 1 would be a failure.
    let steps = stage.steps().replace(&format!("touch {}", at("written")), "done All of it is done.");
    let (ready, away) = (at("written"), at("away"));
    let steps = format!("{steps}\ntouch {ready}\nwait-for {away}\n{}\nexit 1", said.join("\n"));
    stage.give("go");
    let task = stage.add(&steps);
    let runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    server.restart_after(|| {
        stage.give("away");
        wait_until(BOUND, "the end of the agent", || !is_alive(agent));
        // Longer than the lease, which ends at this moment for everybody who can read a clock.
        std::thread::sleep(std::time::Duration::from_secs(4));
        assert!(is_alive(keeper) && is_alive(runner.pid()));
    });
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["attempts"], 1);
    let events = stage.events();
    for line in 0..50 {
        let text = format!("line {line}");
        assert_eq!(events.iter().filter(|event| event["data"]["text"] == *text).count(), 1, "{text}");
    }
}

/// The same while the workspace is being prepared: no fault of the task.
#[test]
fn heavy_the_server_is_away_while_a_run_is_prepared() {
    let (server, _database, stage) = stage();
    stage.give("go");
    let task = stage.add(&stage.steps());
    let runner = stage.run(Some("keeper-planned"));
    let keeper = stage.wait_held("keeper-planned");
    server.restart_after(|| {
        stage.let_go("keeper-planned");
        wait_until(BOUND, "the end is noted", || fs::exists(ending(&stage)).unwrap() || !is_alive(keeper));
    });
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["failures"], 0);
}

fn ending(stage: &Stage) -> std::path::PathBuf {
    stage.run_folder(&stage.live_run()).join("ending.json")
}
