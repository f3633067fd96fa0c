//! Every step of a run × everybody who can be killed there.

use std::thread;

use fleet_testkit::wait_until;

use super::processes::{is_alive, kill};
use super::stage::{BOUND, Stage};

/// Who is killed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Victims {
    pub(crate) keeper: bool,
    pub(crate) runner: bool,
    agent: bool,
}

impl Victims {
    const fn of(letters: &str) -> Self {
        let (mut victims, letters) =
            (Self { keeper: false, runner: false, agent: false }, letters.as_bytes());
        let mut at = 0;
        while at < letters.len() {
            match letters[at] {
                b'k' => victims.keeper = true,
                b'r' => victims.runner = true,
                _ => victims.agent = true,
            }
            at += 1;
        }
        victims
    }
}

const KEEPER: Victims = Victims::of("k");
const RUNNER: Victims = Victims::of("r");
const AGENT: Victims = Victims::of("a");
pub(crate) const NO_AGENT: &[Victims] = &[KEEPER, RUNNER, Victims::of("kr")];
const WITH_AGENT: &[Victims] =
    &[KEEPER, RUNNER, AGENT, Victims::of("kr"), Victims::of("ka"), Victims::of("kra")];

/// Whether the agent is there at that point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    /// Not yet.
    Coming,
    /// At work, with files written.
    There,
    /// Not any more.
    Gone,
}

/// Nobody is held there: the agent waits, and its keeper with it.
const AT_WORK: &str = "agent-at-work";

/// One cell: kills them there, and looks whether all ends well.
fn cell(point: &str, agent: Agent, victims: Victims) {
    let stage = Stage::new();
    if agent == Agent::Gone {
        stage.give("go");
    }
    let task = stage.add(&stage.steps());
    let mut runner = stage.run(Some(point));
    let mut held = (point != AT_WORK).then(|| stage.wait_held(point));
    if agent == Agent::There {
        stage.wait_for("written");
    }
    let held = *held.get_or_insert_with(|| stage.keeper_pid(&stage.live_run()));
    let agent_pid = (agent == Agent::There).then(|| stage.agent_pid(&stage.live_run()));
    // All of them at once, as far as that is possible.
    if victims.runner {
        runner.kill();
    }
    if victims.keeper {
        kill(held);
    }
    if let Some(pid) = agent_pid.filter(|_| victims.agent) {
        kill(pid);
    }
    // It looks around while those who live are still held.
    let runner = if victims.runner { stage.next_runner() } else { runner };
    if let Some(pid) = agent_pid.filter(|_| victims.keeper) {
        wait_until(BOUND, "an agent without a keeper is ended", || !is_alive(pid));
    }
    stage.give("go");
    stage.let_go(point);
    stage.assert_well(&task, runner);
    let attempts = stage.task(&task)["attempts"].as_i64().unwrap();
    // Who is killed costs an attempt; a keeper that has shown itself goes on without its runner.
    let is_known = !matches!(point, "runner-claimed" | "keeper-begins");
    assert!(attempts <= if victims.keeper || victims.agent || !is_known { 2 } else { 1 }, "{attempts}");
    if agent == Agent::There && (victims.keeper || victims.agent) {
        stage.assert_in_snapshots();
    }
}

/// All cells of one point side by side: they mostly wait.
fn cells(point: &str, agent: Agent, all: &[Victims]) {
    thread::scope(|scope| {
        for victims in all {
            let name = format!("{point} {victims:?}");
            let cell = move || cell(point, agent, *victims);
            thread::Builder::new().name(name).spawn_scoped(scope, cell).unwrap();
        }
    });
}

#[test]
fn killed_when_the_runner_has_claimed() {
    cells("runner-claimed", Agent::Coming, &[RUNNER]);
}

#[test]
fn killed_when_the_keeper_begins() {
    cells("keeper-begins", Agent::Coming, NO_AGENT);
}

#[test]
fn killed_when_the_keeper_has_left_its_mark() {
    cells("keeper-marked", Agent::Coming, NO_AGENT);
}

#[test]
fn killed_when_the_keeper_has_looked_around() {
    cells("keeper-looked", Agent::Coming, NO_AGENT);
}

#[test]
fn killed_when_the_branch_is_planned() {
    cells("keeper-planned", Agent::Coming, NO_AGENT);
}

#[test]
fn killed_when_the_workspace_is_open() {
    cells("keeper-opened", Agent::Coming, NO_AGENT);
}

#[test]
fn killed_when_everything_is_prepared() {
    cells("keeper-prepared", Agent::Coming, NO_AGENT);
}

#[test]
fn heavy_killed_when_the_agent_is_launched() {
    cells("keeper-launched", Agent::There, WITH_AGENT);
}

#[test]
fn heavy_killed_when_the_agent_is_at_work() {
    cells(AT_WORK, Agent::There, WITH_AGENT);
}

#[test]
fn killed_when_the_agent_has_ended() {
    cells("keeper-attended", Agent::Gone, NO_AGENT);
}

#[test]
fn killed_when_the_leftovers_are_committed() {
    cells("keeper-committed", Agent::Gone, NO_AGENT);
}

#[test]
fn killed_when_the_end_is_noted() {
    cells("keeper-noted", Agent::Gone, NO_AGENT);
}

#[test]
fn killed_when_the_end_is_recorded() {
    cells("keeper-recorded", Agent::Gone, NO_AGENT);
}

#[test]
fn killed_when_the_workspace_is_given_back() {
    cells("keeper-released", Agent::Gone, NO_AGENT);
}

/// The next attempt begins while the one before has not given its worktree back, which has the branch.
#[test]
fn tried_again_before_the_workspace_is_given_back() {
    let stage = Stage::new();
    stage.give("go");
    let failed = stage.sign("failed");
    let task = stage.add(&format!("{}\nonce {} exit 1", stage.steps(), failed.display()));
    let runner = stage.run(Some("keeper-recorded"));
    let first = stage.wait_held("keeper-recorded");
    wait_until(BOUND, "the second attempt", || stage.live().len() == 2);
    assert!(is_alive(first));
    let second = stage.live().pop().unwrap();
    wait_until(BOUND, "its branch is planned", || {
        let events = stage.events();
        events.iter().any(|event| event["kind"] == "run.prepared" && event["run"] == *second)
    });
    stage.let_go("keeper-recorded");
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["attempts"], 2);
}

/// The same when the attempt before did nothing, so that its branch goes while the next one begins.
#[test]
fn tried_again_while_an_empty_branch_is_removed() {
    let stage = Stage::new();
    let (task, runner) = stage.hold_second_attempt();
    stage.let_go("keeper-planned");
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["attempts"], 2);
}
