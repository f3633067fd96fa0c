//! Which processes belong to a run.
//!
//! Decides from one look at the table, and touches nothing.

use std::collections::HashSet;

use super::scan::Processes;
use super::table::{ProcessEntry, ProcessState};
use super::{Identity, ProcessTree};

/// The members of a tree that can be signalled: no dead ones, not the keeper, and none that this process depends on.
pub(super) fn members<'a>(tree: &ProcessTree, processes: &'a Processes) -> Vec<&'a ProcessEntry> {
    let mut search = TreeSearch::new(tree, processes);
    search.grow();
    let spared = protected_pids(tree, processes);
    let inside = search.inside.difference(&spared).filter_map(|pid| processes.get(*pid));
    let mut members: Vec<&ProcessEntry> = inside.filter(|entry| entry.state != ProcessState::Dead).collect();
    // The youngest first: a parent that is signalled first may start another child.
    members.sort_by_key(|entry| std::cmp::Reverse((entry.start, entry.pid)));
    members
}

/// The processes that are never touched on behalf of a tree.
pub(super) fn protected_pids(tree: &ProcessTree, processes: &Processes) -> HashSet<i32> {
    let mut spared = processes.protected();
    spared.extend(tree.keeper.as_ref().and_then(|keeper| processes.find(keeper)).map(|keeper| keeper.pid));
    spared
}

/// Who is inside without regard to others: the root and the keeper, dead or alive, who is in the group, and who
/// carries the mark.
fn seeds(tree: &ProcessTree, processes: &Processes) -> HashSet<i32> {
    let known = [Some(&tree.root), tree.keeper.as_ref()].into_iter().flatten();
    let mut inside: HashSet<i32> =
        known.filter_map(|identity| processes.find(identity)).map(|entry| entry.pid).collect();
    inside.extend(tree.group.as_ref().and_then(super::Group::pids).unwrap_or_default());
    inside.extend(processes.marked((&tree.marker.0, &tree.marker.1)));
    // Every process descends from the first, whatever it may carry.
    inside.retain(|pid| *pid != 1 && processes.get(*pid).is_some());
    inside
}

struct TreeSearch<'a> {
    tree: &'a ProcessTree,
    processes: &'a Processes,
    inside: HashSet<i32>,
    /// Those inside whose children have not been searched.
    new: Vec<i32>,
}

impl<'a> TreeSearch<'a> {
    fn new(tree: &'a ProcessTree, processes: &'a Processes) -> Self {
        let inside = seeds(tree, processes);
        Self { tree, processes, new: inside.iter().copied().collect(), inside }
    }

    /// Adds the processes that belong to those inside, step by step: a search for many trees must not go through all
    /// processes for each.
    fn grow(&mut self) {
        let processes = self.processes;
        loop {
            while let Some(pid) = self.new.pop() {
                self.take_in(processes.children(pid).iter().chain(processes.led_by(pid)));
            }
            let leaders = self.ended_leaders();
            let left = leaders.numbers().flat_map(|number| processes.led_by(number));
            self.take_in(left.filter(|pid| processes.get(**pid).is_some_and(|entry| leaders.left(entry))));
            if self.new.is_empty() {
                return;
            }
        }
    }

    fn take_in(&mut self, pids: impl Iterator<Item = &'a i32>) {
        let Self { inside, new, .. } = self;
        new.extend(pids.filter(|pid| inside.insert(**pid)));
    }

    fn ended_leaders(&self) -> EndedLeaders {
        let inside = || self.inside.iter().filter_map(|pid| self.processes.get(*pid));
        let gone = |identity: &Identity| self.processes.get(identity.pid).is_none().then_some(identity.pid);
        let this_boot = self.tree.root.boot == super::table::boot();
        let session = self.tree.keeper.as_ref().and_then(gone).filter(|_| this_boot);
        let group = gone(&self.tree.root).filter(|_| this_boot);
        EndedLeaders {
            session: session.map(|session| (session, inside().any(|entry| entry.session == session))),
            group: group.map(|group| (group, inside().any(|entry| entry.group == group))),
        }
    }
}

/// The session of the keeper and the process group of the root, once those are gone.
///
/// Their numbers could in theory have been reused. So a process in them counts only if a known process is in the same
/// session or group, or if both numbers match.
struct EndedLeaders {
    /// The number, and whether a process in it is inside.
    session: Option<(i32, bool)>,
    group: Option<(i32, bool)>,
}

impl EndedLeaders {
    fn numbers(&self) -> impl Iterator<Item = i32> + use<> {
        [self.session, self.group].into_iter().flatten().map(|(number, _)| number)
    }

    /// Whether they have left this one behind.
    fn left(&self, entry: &ProcessEntry) -> bool {
        let in_session = self.session.filter(|(session, _)| entry.session == *session);
        let in_group = self.group.filter(|(group, _)| entry.group == *group);
        match (in_session, in_group) {
            (Some(_), Some(_)) => true,
            (Some((_, is_vouched_for)), None) | (None, Some((_, is_vouched_for))) => is_vouched_for,
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests;
