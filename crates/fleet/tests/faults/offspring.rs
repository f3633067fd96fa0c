//! What agents and set-up commands leave running ends with the run, whoever ends it.

use std::fs;
use std::thread;

use super::processes::{is_alive, kill};
use super::stage::Stage;

/// The process that wrote its number to a sign.
fn pid_in(stage: &Stage, sign: &str) -> i32 {
    let mut pid = None;
    fleet_testkit::wait_until(super::stage::BOUND, sign, || {
        pid = fs::read_to_string(stage.sign(sign)).ok().and_then(|text| text.trim().parse().ok());
        pid.is_some()
    });
    pid.unwrap()
}

/// A process in a session of its own, without a parent, deaf to everything but the last signal.
fn stubborn(stage: &Stage) -> String {
    let pid = stage.sign("stubborn");
    let fork = format!(
        "once {} fork session double ignore pid={} 600s",
        pid.with_extension("once").display(),
        pid.display()
    );
    format!("{fork}\n{}", stage.steps())
}

#[test]
fn nothing_survives_its_run() {
    thread::scope(|scope| {
        for (is_keeper_killed, is_agent_killed) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            scope.spawn(move || {
                let stage = Stage::new();
                let task = stage.add(&stubborn(&stage));
                let runner = stage.run(None);
                stage.wait_for("written");
                let run = stage.live_run();
                let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
                let stubborn = pid_in(&stage, "stubborn");
                assert!(is_alive(stubborn));
                if is_keeper_killed {
                    kill(keeper);
                }
                if is_agent_killed {
                    kill(agent);
                }
                stage.give("go");
                stage.assert_well(&task, runner);
                assert!(!is_alive(stubborn));
            });
        }
    });
}

/// Killed when a set-up command has left something running and no agent was started yet.
#[test]
fn what_a_setup_command_left_ends_as_well() {
    let stage = Stage::new();
    stage.give("go");
    let pid = stage.sign("service");
    let setup = format!("[workspaces]\nsetup = [\"sleep 600 & echo $! > '{}'\"]\n", pid.display());
    fs::write(stage.home().join("config.toml"), setup).unwrap();
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(Some("keeper-prepared"));
    let keeper = stage.wait_held("keeper-prepared");
    let service = pid_in(&stage, "service");
    assert!(is_alive(service));
    runner.kill();
    kill(keeper);
    stage.assert_well(&task, stage.run(None));
    assert!(!is_alive(service));
}
