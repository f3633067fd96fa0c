//! Whose a branch is that is there when an attempt begins or ends.

use std::fs;
use std::process::Stdio;

use fleet_testkit::fleet::{Fleet, binary};
use fleet_testkit::wait_until;

use super::processes::{is_alive, kill};
use super::stage::{BOUND, Running, Stage, branch_of};

impl Stage {
    /// Makes the branch of a task, with a commit of its own, as somebody else would.
    fn make_branch(&self, task: &str) -> String {
        let commit = self.repo.git(&["commit-tree", "-m", "other", "-p", "HEAD", "HEAD^{tree}"]);
        self.repo.git(&["-c", "core.hooksPath=/dev/null", "update-ref", &branch_of(task), &commit]);
        commit
    }
}

/// Somebody made the branch while the agent worked. It is left alone, and no later attempt goes on with it.
#[test]
fn a_branch_that_somebody_else_made_meanwhile_is_not_continued() {
    let stage = Stage::new();
    let failed = stage.sign("failed");
    let task = stage.add(&format!("{}\nonce {} exit 1", stage.steps(), failed.display()));
    let runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let others = stage.make_branch(&task);
    stage.give("go");
    stage.wait_status(&task, "failed");
    assert_eq!(stage.task(&task)["reason"], "branch_taken");
    assert_eq!(stage.fleet.json(&["show", &run])["result"]["branch_taken"], true);
    assert_eq!(stage.repo.git(&["rev-parse", &branch_of(&task)]), others);
    stage.assert_tidy([runner]);
    stage.assert_in_snapshots();
}

/// The attempt before is ended late, in another home, and sets the branch when the next one has looked already.
#[test]
fn a_branch_that_an_earlier_attempt_sets_late_is_continued() {
    let stage = Stage::new();
    let (task, runner) = stage.hold_second_attempt();
    let late = stage.make_branch(&task);
    stage.let_go("keeper-planned");
    stage.assert_well(&task, runner);
    assert_eq!(stage.task(&task)["attempts"], 2);
    stage.repo.git(&["merge-base", "--is-ancestor", &late, &branch_of(&task)]);
}

/// Another home on the same store, with the same repository.
fn second_home(stage: &Stage, store: &str) -> Fleet {
    let other = Fleet::new(binary(env!("CARGO_BIN_EXE_fleet"))).cwd(stage.repo.path());
    other.env("FLEET_STORE", store).env("FLEET_RUNNER_LEASE_SECONDS", "2")
}

fn run_in(home: &Fleet) -> Running {
    let mut command = home.command(&["run", "--slots", "4"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Running::new(command.spawn().unwrap())
}

/// Here an attempt is lost before its work is on the branch, another home makes the branch, and the third attempt is made
/// here again: it knows the branch for its task's, though nothing in this home says so.
#[test]
fn a_branch_that_an_attempt_in_another_home_made_is_continued() {
    let mut stage = Stage::new();
    let store = format!("sqlite:{}", stage.fleet.user_home().join("shared.db").display());
    stage.fleet = stage.fleet.env("FLEET_STORE", &store);
    let other = second_home(&stage, &store);
    let failed = stage.sign("failed");
    let second = format!("once {} write second.txt two", stage.sign("second").display());
    let task = stage.add(&format!("{}\n{second}\nonce {} exit 1", stage.steps(), failed.display()));
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    runner.kill();
    kill(keeper);
    kill(agent);
    fs::remove_file(stage.sign("written")).unwrap();
    let mut elsewhere = run_in(&other);
    stage.wait_for("written");
    // Its keeper ends the second attempt without a runner, so that the third one is made here.
    elsewhere.kill();
    stage.give("go");
    wait_until(BOUND, "the second attempt is over", || stage.task(&task)["failures"] == 2);
    let runner = stage.run(None);
    stage.wait_status(&task, "done");
    stage.assert_tidy([runner]);
    stage.assert_once(&task);
    assert_eq!(stage.task(&task)["attempts"], 3);
    assert_eq!(stage.content(&branch_of(&task), "second.txt").as_deref(), Some("two"));
    stage.assert_in_snapshots();
}

/// Saving the work of a run may take longer than other places wait for its keeper.
#[test]
fn whoever_repairs_a_run_holds_it() {
    let stage = Stage::new();
    stage.add(&stage.steps());
    let mut runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    runner.kill();
    kill(keeper);
    let mut command = stage.fleet.env("FLEET_TEST_HOLD", "repair-stopped").command(&["repair", &run]);
    let repair = Running::new(command.stdin(Stdio::null()).spawn().unwrap());
    stage.wait_held("repair-stopped");
    assert!(!is_alive(agent));
    let lease = || stage.fleet.json(&["show", &run])["lease_until"].as_str().unwrap().to_owned();
    let first = lease();
    wait_until(BOUND, "the lease is renewed", || lease() > first);
    drop(repair);
}
