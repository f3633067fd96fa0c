//! Scripts that do not want to end.

use std::fs;

use fleet_host::process::StopOutcome;

use super::stage::{Run, are_groups_made, said};

/// How the stop is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    ByKeeper { is_grouped: bool },
    AfterKeeper { is_grouped: bool },
}

const ALL: [Case; 4] = [
    Case::ByKeeper { is_grouped: true },
    Case::ByKeeper { is_grouped: false },
    Case::AfterKeeper { is_grouped: true },
    Case::AfterKeeper { is_grouped: false },
];

/// Starts a script, waits until so many of its processes sleep, and stops it.
fn stop(script: &str, sleepers: usize, case: Case, expected: Option<StopOutcome>) {
    let (Case::ByKeeper { is_grouped } | Case::AfterKeeper { is_grouped }) = case;
    let start = if expected == Some(StopOutcome::Terminated) { Run::start } else { Run::start_stubborn };
    let mut run = start(script, is_grouped);
    run.wait_for_sleepers(sleepers);
    let how = match case {
        Case::ByKeeper { .. } => run.stop_by_keeper(),
        Case::AfterKeeper { .. } => {
            let stopped = run.stop_after_keeper();
            format!("{:?} {}", stopped.how, stopped.left.len())
        }
    };
    run.assert_gone(&format!("{case:?} {how}"));
    if let Some(expected) = expected {
        assert_eq!(how, said(expected), "{case:?}");
    }
}

#[test]
fn children_that_end_when_told() {
    for case in ALL {
        stop("sleep $1 & sleep $1 & wait", 2, case, Some(StopOutcome::Terminated));
    }
}

#[test]
fn children_that_do_not_listen() {
    for case in ALL {
        stop("trap '' TERM INT HUP; sleep $1 & sleep $1 & wait; wait", 2, case, Some(StopOutcome::Killed));
    }
}

#[test]
fn sessions_of_their_own() {
    let script = "setsid sleep $1 & setsid sh -c 'trap \"\" TERM; sleep $1 & wait; wait' sh $1 & wait";
    for case in ALL {
        stop(script, 2, case, Some(StopOutcome::Killed));
    }
}

#[test]
fn children_without_parents() {
    let script = "(setsid sh -c '(sleep $1 &); sleep $1' sh $1 &); (sleep $1 &); exit 0";
    for case in ALL {
        stop(script, 3, case, Some(StopOutcome::Terminated));
    }
}

#[test]
fn children_without_environment() {
    for case in ALL {
        stop("(env -i sleep $1 &); sleep $1", 2, case, Some(StopOutcome::Terminated));
    }
}

#[test]
fn children_without_environment_of_an_agent_that_has_ended() {
    for case in ALL {
        stop("(env -i sleep $1 &); exit 0", 1, case, Some(StopOutcome::Terminated));
    }
}

#[test]
fn children_without_environment_parents_and_session() {
    let script = "(setsid env -i /bin/sh -c '(setsid sleep $1 &); exec sleep $1' sh $1 &); sleep $1";
    for case in ALL {
        // Of these nothing is known after the keeper's death, unless there is a group: so it is documented.
        let is_found = match case {
            Case::ByKeeper { .. } => true,
            Case::AfterKeeper { is_grouped } => is_grouped && are_groups_made(),
        };
        if is_found {
            stop(script, 3, case, Some(StopOutcome::Terminated));
        }
    }
}

#[test]
fn stopped_children() {
    let script = "sh -c 'kill -STOP $$' sh $1 & sleep $1";
    for case in ALL {
        // The kernel itself ends a stopped process group that has lost its keeper.
        let expected = matches!(case, Case::ByKeeper { .. }).then_some(StopOutcome::Terminated);
        stop(script, 1, case, expected);
    }
}

#[test]
fn children_that_are_started_while_others_are_stopped() {
    let script = "trap 'for i in 1 2 3 4 5; do sleep $1 & done' TERM; while :; do sleep $1; done";
    for case in ALL {
        stop(script, 1, case, Some(StopOutcome::Killed));
    }
}

#[test]
fn a_crowd_that_is_growing() {
    // Two children each, five times over, all of them deaf; stopped while it is being born.
    let script = "trap '' TERM\nn=${2:-5}\nif [ $n -gt 0 ]; then sh $0 $1 $((n-1)) & sh $0 $1 $((n-1)) & fi\n\
        setsid sleep $1 & wait; wait";
    for case in ALL {
        stop(script, 3, case, None);
    }
}

#[test]
fn a_process_that_is_always_another() {
    // Each starts the next and ends, so that whoever is signalled is gone already. For a while only, should the test
    // fail. The group kills it in any case; without one it takes luck, and the stop need not have it in time.
    let script = "n=${2:-3000}\nif [ $n -eq 0 ]; then exit; fi\nsh $0 $1 $((n-1)) & exit";
    for case in [Case::ByKeeper { is_grouped: true }, Case::AfterKeeper { is_grouped: true }] {
        if are_groups_made() {
            stop(script, 0, case, None);
        }
    }
}

#[test]
fn groups_within_the_group() {
    let mut run = Run::start_stubborn("trap '' TERM; sleep $1; sleep $1", true);
    run.wait_for_sleepers(1);
    let Some(group) = &run.tree.group else {
        // Where no groups can be made there are none within them; the rest must hold all the same.
        run.stop_by_keeper();
        return run.assert_gone("without a group");
    };
    let outer: String = serde_json::to_value(group).unwrap()["dir"].as_str().unwrap().to_owned();
    let inner = format!("{outer}/inner");
    fs::create_dir(&inner).unwrap();
    let members = run.tree.members();
    assert_eq!(members.len(), 2, "the shell and its child");
    fs::write(format!("{inner}/cgroup.procs"), members[0].identity.pid.to_string()).unwrap();
    assert_eq!(run.tree.members().len(), 2);
    let stopped = run.stop_after_keeper();
    assert_eq!((stopped.how, stopped.left), (StopOutcome::Killed, Vec::new()));
    run.assert_gone("a group within the group");
}
