//! Ending all that a run has started.

use std::collections::HashSet;
use std::time::Duration;

use super::membership;
use super::table;
use super::{Identity, Member, Processes, Signal, Tree};
use crate::patience::Patience;

/// The longest pause between two looks at those who were told to end.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// After so many looks at those who are known, all processes are looked at again, for those who were started since.
/// (Looking at all of them each time would cost a core when a whole fleet is stopped.)
const LOOKS_AT_THE_KNOWN: usize = 8;

/// So often are newcomers looked for while everybody is being frozen. Each round leaves fewer who could start one.
const FREEZING_ROUNDS: usize = 50;

/// So often an empty table has to be seen before it is believed, unless it is certain that nobody was born meanwhile.
const EMPTY_LOOKS: usize = 3;

/// How a tree is made to end, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// A signal that asks the root alone to end, which knows best how to end what it has started.
    pub ask: Option<Signal>,
    /// How long it may take over that.
    pub ask_grace: Duration,
    /// How long everybody may take after `SIGTERM`.
    pub term_grace: Duration,
    /// How long to insist with `SIGKILL`. A process that waits for a dead disk cannot be killed until that answers.
    pub kill_patience: Duration,
}

/// How a tree has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// What it took.
    pub how: How,
    /// Who is still there: nobody, unless the system keeps them.
    pub left: Vec<Member>,
}

/// What it took to end a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Nobody was there.
    AlreadyGone,
    /// Everybody ended when told to.
    Terminated,
    /// Somebody had to be killed.
    Killed,
}

impl Tree {
    /// Ends the whole tree, step by step. The caller reaps its children in `on_poll`, which is called all the while.
    ///
    /// Removes the group when nobody is left in it. Can be called again, and from several processes at once.
    pub fn stop(&self, ladder: &Ladder, on_poll: &mut dyn FnMut()) -> Stopped {
        on_poll();
        if self.present().is_none() {
            self.remove_group();
            return Stopped { how: How::AlreadyGone, left: Vec::new() };
        }
        if let Some(signal) = ladder.ask {
            self.ask(signal, ladder.ask_grace, on_poll);
        }
        if self.terminate(ladder.term_grace, on_poll) {
            self.remove_group();
            return Stopped { how: How::Terminated, left: Vec::new() };
        }
        match self.kill_now(ladder.kill_patience, on_poll) {
            Stopped { how: How::AlreadyGone, left } => Stopped { how: How::Terminated, left },
            stopped => stopped,
        }
    }

    /// Kills the whole tree at once.
    ///
    /// Where the group cannot do it, everybody is frozen first: a parent that is frozen does not start another child,
    /// and one that is not dead yet still leads to its children. Somebody who starts the next and ends, again and again
    /// within the time of a look, can escape that, but not the group.
    pub fn kill_now(&self, patience: Duration, on_poll: &mut dyn FnMut()) -> Stopped {
        let mut patience = Patience::new(patience, LONGEST_PAUSE);
        let mut how = How::AlreadyGone;
        let mut left = self.present();
        while let Some(members) = left {
            how = How::Killed;
            self.kill_group();
            self.freeze();
            for member in self.members().iter().chain(&members) {
                send(&member.identity, Signal::KILL);
            }
            if !patience.pause() {
                return Stopped { how, left: self.members() };
            }
            on_poll();
            left = self.present();
        }
        self.remove_group();
        Stopped { how, left: Vec::new() }
    }

    fn kill_group(&self) {
        if let Some(group) = &self.group {
            group.kill(&membership::spared(self, &self.look()));
        }
    }

    /// Who is there. `None` when it is certain that nobody is.
    ///
    /// A table that is read while a process starts another one and ends may show neither of them. So an empty one is
    /// believed only when nobody at all was born meanwhile, or when it was seen several times, and never when there
    /// is somebody in the group.
    fn present(&self) -> Option<Vec<Member>> {
        for _ in 0..EMPTY_LOOKS {
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

    fn is_in_group(&self, processes: &Processes) -> bool {
        let pids = self.group.as_ref().and_then(super::Group::pids).unwrap_or_default();
        let spared = membership::spared(self, processes);
        pids.iter().any(|pid| !spared.contains(pid))
    }

    /// Asks the root, and waits until it has ended or its time is over.
    fn ask(&self, signal: Signal, grace: Duration, on_poll: &mut dyn FnMut()) {
        let mut patience = Patience::new(grace, LONGEST_PAUSE);
        send(&self.root, signal);
        while self.root.is_alive() && patience.pause() {
            on_poll();
        }
    }

    /// Tells everybody to end. True when nobody is left.
    fn terminate(&self, grace: Duration, on_poll: &mut dyn FnMut()) -> bool {
        let mut patience = Patience::new(grace, LONGEST_PAUSE);
        let mut told = HashSet::new();
        loop {
            on_poll();
            let Some(known) = self.present() else { return true };
            for member in not_told(&known, &told) {
                send(&member.identity, Signal::TERM);
                told.insert(member.identity.clone());
            }
            // Whoever is stopped does not hear it before being continued.
            for member in known.iter().filter(|member| member.stopped) {
                send(&member.identity, Signal::CONT);
            }
            for _ in 0..LOOKS_AT_THE_KNOWN {
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

    /// Stops everybody where they are, until a look finds no newcomer.
    fn freeze(&self) {
        let mut frozen = HashSet::new();
        for _ in 0..FREEZING_ROUNDS {
            let mut is_any_new = false;
            for member in self.members() {
                if frozen.insert(member.identity.clone()) {
                    send(&member.identity, Signal::STOP);
                    is_any_new = true;
                }
            }
            if !is_any_new {
                return;
            }
        }
    }

    fn remove_group(&self) {
        if let Some(group) = &self.group {
            group.remove();
        }
    }
}

/// Who has to be told to end. Not whom somebody has started who was told and is still there: that is how they clean up
/// after themselves.
fn not_told<'a>(known: &'a [Member], told: &HashSet<Identity>) -> Vec<&'a Member> {
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
