//! What must not be touched, and what a tree uses.

use std::process::{Child, Command};
use std::time::Duration;

use fleet_host::process::{Identity, ProcessTree, Processes, Signal, StopOutcome, StopSequence};
use fleet_testkit::wait_until;

use super::stage::{LADDER, Run, said};
use crate::BOUND;

/// A process of the user, who works in the same directory; ends with the test.
struct Bystander(Child);

impl Bystander {
    fn start(run: &Run) -> Self {
        Self(Command::new("sleep").arg("300").current_dir(run.folder.path()).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn whoever_works_in_the_same_directory() {
    let mut run = Run::start("sleep $1", true);
    run.wait_for_sleepers(1);
    let mut bystander = Bystander::start(&run);
    assert_eq!(run.stop_after_keeper().how, StopOutcome::Terminated);
    assert!(bystander.is_alive());
    run.assert_gone("the run itself");
}

#[test]
fn others_with_the_same_numbers() {
    let run = Run::start("sleep $1", false);
    run.wait_for_sleepers(1);
    let earlier = |identity: &Identity| Identity { start: identity.start - 1, ..identity.clone() };
    let another = ProcessTree {
        root: earlier(&run.tree.root),
        keeper: run.tree.keeper.as_ref().map(earlier),
        marker: ("FLEET_TEST_RUN".to_owned(), "another".to_owned()),
        group: None,
    };
    assert_eq!(another.members(), []);
    assert_eq!(another.stop(&LADDER, &mut || {}).how, StopOutcome::AlreadyGone);
    assert_eq!(another.kill_now(Duration::ZERO, &mut || {}).how, StopOutcome::AlreadyGone);
    assert!(run.tree.root.is_alive());
    assert_eq!(run.stop_by_keeper(), said(StopOutcome::Terminated));
}

#[test]
fn the_keeper_is_never_a_member() {
    let run = Run::start("sleep $1", true);
    run.wait_for_sleepers(1);
    let keeper = run.tree.keeper.clone().unwrap();
    assert!(run.tree.members().iter().all(|member| member.identity != keeper));
    // Not even when somebody else stops the run.
    assert_eq!(run.tree.stop(&LADDER, &mut || {}).how, StopOutcome::Terminated);
    assert!(keeper.is_alive());
    assert_eq!(run.stop_by_keeper(), said(StopOutcome::AlreadyGone));
    run.assert_gone("stopped twice");
}

#[test]
fn the_agent_is_asked_first() {
    let run = Run::start("trap 'exit 0' INT; trap 'touch told; exit 0' TERM; sleep $1 & wait", false);
    run.wait_for_sleepers(1);
    let ladder = StopSequence { ask: Some(Signal::INT), ask_grace: BOUND, ..LADDER };
    assert_eq!(run.tree.stop(&ladder, &mut || {}).how, StopOutcome::Terminated);
    assert!(!run.folder.path().join("told").exists());
    run.assert_gone("asked");
}

#[test]
fn whoever_does_not_answer_is_told() {
    // Cleaning up takes a process of its own, which is not told to end.
    let clean = "sh -c \"sleep 0.3; touch told\"";
    let script = format!("trap '' INT; trap '{clean}; exit 0' TERM; sleep $1 & while :; do wait; done");
    let run = Run::start(&script, false);
    run.wait_for_sleepers(1);
    let ladder = StopSequence { ask: Some(Signal::INT), ask_grace: Duration::from_millis(20), ..LADDER };
    assert_eq!(run.tree.stop(&ladder, &mut || {}).how, StopOutcome::Terminated);
    assert!(run.folder.path().join("told").exists());
    run.assert_gone("told");
}

#[test]
fn many_trees_in_one_look() {
    let runs: Vec<Run> =
        [true, false].map(|grouped| Run::start("sleep $1 & sleep $1 & wait", grouped)).into();
    for run in &runs {
        run.wait_for_sleepers(2);
    }
    let processes = Processes::scan();
    assert!(processes.count() > 6);
    for run in &runs {
        let members = run.tree.members_in(&processes);
        assert_eq!(members.len(), 3, "{members:?}");
        let root = members.iter().find(|member| member.identity == run.tree.root).unwrap();
        assert!(members.iter().filter(|member| member.parent == root.identity.pid).count() == 2);
        let usage = run.tree.usage_in(&processes);
        assert_eq!(usage.processes, 3);
        assert!(usage.rss_bytes > 0);
        assert!(usage.age.unwrap() < BOUND);
    }
    for run in &runs {
        assert_eq!(run.stop_by_keeper(), said(StopOutcome::Terminated));
    }
}

#[test]
fn processor_time_adds_up() {
    for is_grouped in [true, false] {
        let run = Run::start("(while :; do :; done) & sleep $1", is_grouped);
        let mut last = Duration::ZERO;
        wait_until(BOUND, "it has worked for a while", || {
            let cpu = run.tree.usage().cpu;
            assert!(cpu >= last);
            last = cpu;
            cpu > Duration::from_millis(100)
        });
        assert_eq!(run.stop_by_keeper(), said(StopOutcome::Terminated));
        assert_eq!(run.tree.usage().processes, 0);
        run.assert_gone("a busy one");
    }
}

#[test]
fn what_is_frozen_does_nothing_until_it_is_thawed() {
    for is_grouped in [false, true] {
        let run = Run::start("while :; do echo x >> ticks; /bin/sleep 0.01; done & sleep $1", is_grouped);
        run.wait_for_sleepers(1);
        let ticks = || std::fs::metadata(run.folder.path().join("ticks")).map_or(0, |file| file.len());
        wait_until(BOUND, "it ticks", || ticks() > 0);
        let frozen = run.tree.freeze();
        // What was written when the last process stopped is all.
        wait_until(BOUND, "it stands still", || {
            let before = ticks();
            std::thread::sleep(Duration::from_millis(100));
            ticks() == before
        });
        let before = ticks();
        frozen.thaw();
        wait_until(BOUND, "it ticks again", || ticks() > before);
        let frozen = run.tree.freeze();
        assert_eq!(run.tree.kill_now(BOUND, &mut || {}).left, [], "what is frozen can be killed");
        drop(frozen);
        run.assert_gone("killed while it was frozen");
    }
}
