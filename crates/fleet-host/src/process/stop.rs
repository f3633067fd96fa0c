//! Ending all that a run has started.

use std::collections::HashSet;
use std::time::Duration;

use super::membership;
use super::reap::has_no_descendants;
use super::table;
use super::{Group, Identity, Member, ProcessTree, Processes, Signal};
use crate::bounded_wait::BoundedWait;

/// The longest pause between two looks at signalled processes.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// After this many checks of the known processes, all processes are searched again for new ones. (Searching all each
/// time would cost a core when a whole fleet is stopped.)
const KNOWN_CHECKS: usize = 8;

/// How often new processes are looked for while all are being frozen. Each round leaves fewer who could start one.
const FREEZING_ROUNDS: usize = 50;

/// How often a table must be empty before it is believed, unless it is certain that no process started meanwhile.
const EMPTY_CHECKS: usize = 3;

/// How a tree is made to end, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSequence {
    /// A signal that asks the root alone to end, which knows best how to end what it has started.
    pub ask: Option<Signal>,
    /// How long it may take to react.
    pub ask_grace: Duration,
    /// How long all may take after `SIGTERM`.
    pub term_grace: Duration,
    /// How long to insist with `SIGKILL`. A process that waits for a dead disk cannot be killed until that answers.
    pub kill_patience: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedTree {
    pub how: StopOutcome,
    /// Who is still alive: none, unless the system keeps them.
    pub left: Vec<Member>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    AlreadyGone,
    /// All ended after the signal.
    Terminated,
    /// Some had to be killed.
    Killed,
}

impl ProcessTree {
    /// Ends the whole tree, step by step. The caller reaps its children in `on_poll`, which is called all the while.
    ///
    /// Removes the group if it is empty. Can be called again, and from several processes at once.
    pub fn stop(&self, sequence: &StopSequence, on_poll: &mut dyn FnMut()) -> StoppedTree {
        on_poll();
        if self.present().is_none() {
            self.remove_group();
            return StoppedTree { how: StopOutcome::AlreadyGone, left: Vec::new() };
        }
        if let Some(signal) = sequence.ask {
            self.ask(signal, sequence.ask_grace, on_poll);
        }
        if self.terminate(sequence.term_grace, on_poll) {
            self.remove_group();
            return StoppedTree { how: StopOutcome::Terminated, left: Vec::new() };
        }
        match self.kill_now(sequence.kill_patience, on_poll) {
            StoppedTree { how: StopOutcome::AlreadyGone, left } => {
                StoppedTree { how: StopOutcome::Terminated, left }
            }
            stopped => stopped,
        }
    }

    /// Kills the whole tree at once.
    ///
    /// Where the group cannot do it, all processes are frozen first: a parent that is frozen does not start another
    /// child, and one that is not dead yet still leads to its children. A process that starts the next and ends, again
    /// and again within the time of a look, can escape that, but not the group.
    pub fn kill_now(&self, patience: Duration, on_poll: &mut dyn FnMut()) -> StoppedTree {
        let mut patience = BoundedWait::new(patience, LONGEST_PAUSE);
        let mut how = StopOutcome::AlreadyGone;
        let mut left = self.present();
        while let Some(members) = left {
            how = StopOutcome::Killed;
            self.kill_group();
            self.stop_members();
            for member in self.members().iter().chain(&members) {
                send(&member.identity, Signal::KILL);
            }
            if !patience.pause() {
                return StoppedTree { how, left: self.members() };
            }
            on_poll();
            left = self.present();
        }
        self.remove_group();
        StoppedTree { how, left: Vec::new() }
    }

    fn kill_group(&self) {
        if let Some(group) = &self.group {
            group.kill(&membership::protected_pids(self, &self.look()));
        }
    }

    /// Who is there. `None` if it is certain that none is left.
    ///
    /// A table that is read while a process starts another one and ends may show neither of them. So an empty one is
    /// believed only if no process at all started meanwhile, or if it was seen several times, and never while the group
    /// has members.
    fn present(&self) -> Option<Vec<Member>> {
        if self.has_ended() {
            return None;
        }
        for _ in 0..EMPTY_CHECKS {
            let last_pid = table::last_pid();
            let processes = self.look();
            let members = self.members_in(&processes);
            if !members.is_empty() || self.is_in_group(&processes) {
                return Some(members);
            }
            if last_pid.is_some() && last_pid == table::last_pid() {
                break;
            }
        }
        None
    }

    /// Whether the keeper, which is this process, can tell without a look at all processes that none is left: no
    /// process descends from it, the group is empty, and no process that another program started for the agent carries
    /// the mark.
    fn has_ended(&self) -> bool {
        let is_keeper = || self.keeper.as_ref() == Some(&Identity::current());
        let is_empty = |group: &Group| group.pids().unwrap_or_default().is_empty();
        let (name, value) = &self.marker;
        let is_own = |(_, carried): &(i32, Vec<u8>)| carried == value.as_bytes();
        has_no_descendants()
            && is_keeper()
            && self.group.as_ref().is_none_or(is_empty)
            && !table::marked(name, &mut table::pids().into_iter()).iter().any(is_own)
    }

    fn is_in_group(&self, processes: &Processes) -> bool {
        let pids = self.group.as_ref().and_then(Group::pids).unwrap_or_default();
        let spared = membership::protected_pids(self, processes);
        pids.iter().any(|pid| !spared.contains(pid))
    }

    /// Asks the root, and waits until it has ended or its time is over.
    fn ask(&self, signal: Signal, grace: Duration, on_poll: &mut dyn FnMut()) {
        let mut patience = BoundedWait::new(grace, LONGEST_PAUSE);
        send(&self.root, signal);
        while self.root.is_alive() && patience.pause() {
            on_poll();
        }
    }

    /// Signals all to end. True if none is left.
    fn terminate(&self, grace: Duration, on_poll: &mut dyn FnMut()) -> bool {
        let mut patience = BoundedWait::new(grace, LONGEST_PAUSE);
        let mut told = HashSet::new();
        loop {
            on_poll();
            let Some(known) = self.present() else { return true };
            for member in not_signalled(&known, &told) {
                send(&member.identity, Signal::TERM);
                told.insert(member.identity.clone());
            }
            // A stopped process does not get a signal before it is continued.
            for member in known.iter().filter(|member| member.stopped) {
                send(&member.identity, Signal::CONT);
            }
            for _ in 0..KNOWN_CHECKS {
                if !patience.pause() {
                    return self.present().is_none();
                }
                on_poll();
                if !known.iter().any(|member| member.identity.is_alive()) {
                    break;
                }
            }
        }
    }

    /// Stops all processes with a signal, until a scan finds no new one. Returns those that ran before.
    pub(super) fn stop_members(&self) -> Vec<Identity> {
        let (mut seen, mut stopped) = (HashSet::new(), Vec::new());
        for _ in 0..FREEZING_ROUNDS {
            let mut is_any_new = false;
            for member in self.members() {
                if seen.insert(member.identity.clone()) {
                    send(&member.identity, Signal::STOP);
                    is_any_new = true;
                    stopped.extend((!member.stopped).then_some(member.identity));
                }
            }
            if !is_any_new {
                break;
            }
        }
        stopped
    }

    fn remove_group(&self) {
        if let Some(group) = &self.group {
            group.remove();
        }
    }
}

/// Who has to be told to end. Not children of a signalled process that is still there: that is how they clean up after
/// themselves.
fn not_signalled<'a>(known: &'a [Member], told: &HashSet<Identity>) -> Vec<&'a Member> {
    let busy: HashSet<i32> = known
        .iter()
        .filter(|member| told.contains(&member.identity))
        .map(|member| member.identity.pid)
        .collect();
    known.iter().filter(|member| !told.contains(&member.identity) && !busy.contains(&member.parent)).collect()
}

/// Who has ended or belongs to another user cannot be signalled; the next look shows who is left.
fn send(identity: &Identity, signal: Signal) {
    let _ = identity.signal(signal);
}
