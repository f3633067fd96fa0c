use std::time::Duration;

use super::super::table;
use super::*;

/// Far above the numbers of real processes, whose environments are looked at too.
const BASE: i32 = 50_000_000;
const KEEPER: i32 = BASE + 100;
const ROOT: i32 = BASE + 200;
/// A terminal of the user, who has nothing to do with the run.
const SHELL: i32 = BASE + 10;

fn entry(pid: i32, parent: i32, group: i32, session: i32) -> ProcessEntry {
    ProcessEntry {
        pid,
        parent,
        group,
        session,
        start: u64::try_from(pid).unwrap(),
        state: ProcessState::Alive,
        cpu: Duration::ZERO,
        rss_bytes: 0,
        name: "test".to_owned(),
    }
}

fn identity(pid: i32) -> Identity {
    Identity { pid, start: u64::try_from(pid).unwrap(), boot: table::boot().to_owned() }
}

fn tree() -> ProcessTree {
    ProcessTree {
        root: identity(ROOT),
        marker: ("FLEET_RUN_OF_NOBODY".to_owned(), "none".to_owned()),
        keeper: Some(identity(KEEPER)),
        group: None,
    }
}

fn keeper() -> ProcessEntry {
    entry(KEEPER, 1, KEEPER, KEEPER)
}

fn root() -> ProcessEntry {
    entry(ROOT, KEEPER, ROOT, KEEPER)
}

/// The members, as numbers above the base, in order.
fn found(tree: &ProcessTree, mut entries: Vec<ProcessEntry>) -> Vec<i32> {
    entries.push(entry(SHELL, 1, SHELL, SHELL));
    entries.push(entry(SHELL + 1, SHELL, SHELL + 1, SHELL));
    let processes = Processes::from_entries(entries);
    let mut pids: Vec<i32> = members(tree, &processes).iter().map(|entry| entry.pid - BASE).collect();
    pids.sort_unstable();
    pids
}

#[test]
fn descendants_of_the_root_and_of_the_keeper() {
    let deep = entry(BASE + 202, BASE + 201, BASE + 202, BASE + 202);
    let child = entry(BASE + 201, ROOT, ROOT, KEEPER);
    let adopted = entry(BASE + 203, KEEPER, BASE + 203, BASE + 203);
    assert_eq!(found(&tree(), vec![keeper(), root(), deep, child, adopted]), [200, 201, 202, 203]);
}

#[test]
fn without_a_keeper_only_those_of_the_root() {
    let tree = ProcessTree { keeper: None, ..tree() };
    let child = entry(BASE + 201, ROOT, ROOT, SHELL);
    let beside = entry(BASE + 202, SHELL, SHELL, SHELL);
    assert_eq!(found(&tree, vec![entry(ROOT, SHELL, ROOT, SHELL), child, beside]), [200, 201]);
}

#[test]
fn sessions_and_groups_of_members_that_lost_their_parents() {
    let leader = entry(BASE + 201, ROOT, BASE + 201, BASE + 201);
    let in_session = entry(BASE + 202, 1, BASE + 202, BASE + 201);
    let in_group = entry(BASE + 203, 1, ROOT, KEEPER);
    assert_eq!(found(&tree(), vec![root(), leader, in_session, in_group]), [200, 201, 202, 203]);
}

#[test]
fn a_dead_root_still_leads_to_its_group() {
    let dead = ProcessEntry { state: ProcessState::Dead, ..root() };
    let in_group = entry(BASE + 203, 1, ROOT, KEEPER);
    assert_eq!(found(&tree(), vec![dead, in_group]), [203]);
}

#[test]
fn the_session_of_a_keeper_that_is_gone() {
    // The root vouches for the session.
    let other_group = entry(BASE + 204, 1, BASE + 204, KEEPER);
    assert_eq!(found(&tree(), vec![root(), other_group.clone()]), [200, 204]);
    // Nobody does.
    assert!(found(&tree(), vec![other_group]).is_empty());
    // Both numbers are right.
    assert_eq!(found(&tree(), vec![entry(BASE + 205, 1, ROOT, KEEPER)]), [205]);
}

#[test]
fn numbers_that_were_given_again() {
    let later = |entry: ProcessEntry| ProcessEntry { start: entry.start + 1, ..entry };
    // Another root, and another keeper, with children, sessions and groups of their own.
    let child = entry(BASE + 201, ROOT, ROOT, ROOT);
    assert!(found(&tree(), vec![later(entry(ROOT, SHELL, ROOT, ROOT)), later(child)]).is_empty());
    let child = entry(BASE + 201, KEEPER, ROOT, KEEPER);
    assert!(found(&tree(), vec![later(keeper()), later(child)]).is_empty());
    // A parent that is younger than its child is another one.
    let orphan = ProcessEntry { start: 1, ..entry(BASE + 201, ROOT, SHELL, SHELL) };
    assert_eq!(found(&tree(), vec![keeper(), root(), orphan]), [200]);
}

#[test]
fn another_boot() {
    let tree = ProcessTree {
        root: Identity { boot: "another".to_owned(), ..identity(ROOT) },
        keeper: None,
        ..tree()
    };
    assert!(found(&tree, vec![entry(BASE + 201, 1, ROOT, KEEPER), root()]).is_empty());
}

#[test]
fn never_this_process_nor_those_above_it() {
    let own = rustix::process::getpid().as_raw_pid();
    // Even when the run is what this process was started by.
    let entries =
        vec![keeper(), root(), entry(BASE + 201, ROOT, ROOT, KEEPER), entry(own, BASE + 201, own, own)];
    assert!(found(&tree(), entries).is_empty());
}
