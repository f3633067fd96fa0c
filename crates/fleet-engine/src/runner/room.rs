//! What a runner has room for.
//!
//! Agents that work alone take a slot each. Agents in terminals take none, because they may wait for a person for days;
//! only their number is bounded.

use fleet_core::task::TaskMode;
use fleet_store::ops::ClaimOnly;

/// Numbers of runs, or of further runs: without a terminal, and in one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) slots: usize,
    pub(super) terminals: usize,
}

impl Room {
    /// What these runs take.
    pub(super) fn taken(runs: impl Iterator<Item = TaskMode>) -> Self {
        runs.fold(Self::default(), |taken, mode| match mode {
            TaskMode::Headless => Self { slots: taken.slots + 1, ..taken },
            TaskMode::Interactive => Self { terminals: taken.terminals + 1, ..taken },
        })
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { slots: self.slots + other.slots, terminals: self.terminals + other.terminals }
    }

    pub(super) const fn without(self, taken: Self) -> Self {
        Self {
            slots: self.slots.saturating_sub(taken.slots),
            terminals: self.terminals.saturating_sub(taken.terminals),
        }
    }

    /// How many runs these are.
    pub(super) const fn total(self) -> usize {
        self.slots + self.terminals
    }

    /// Which tasks there is room for, and at most how many may be claimed at once; the rest follow in the next turn.
    pub(super) fn to_claim(self) -> Option<(ClaimOnly, usize)> {
        match (self.slots, self.terminals) {
            (0, 0) => None,
            (0, terminals) => Some((ClaimOnly::Interactive, terminals)),
            (slots, 0) => Some((ClaimOnly::Headless, slots)),
            // Whichever they are, there is room for all.
            (slots, terminals) => Some((ClaimOnly::Any, slots.min(terminals))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_take_no_slot_and_slots_no_terminal() {
        let (headless, interactive) = (TaskMode::Headless, TaskMode::Interactive);
        let taken = Room::taken([headless, interactive, interactive].into_iter());
        assert_eq!((taken, taken.total()), (Room { slots: 1, terminals: 2 }, 3));
        let free = |slots, terminals| Room { slots, terminals }.without(taken).to_claim();
        assert_eq!(free(1, 2), None);
        assert_eq!(free(0, 1), None, "more than it has room for: those of an earlier runner");
        assert_eq!(free(1, 50), Some((ClaimOnly::Interactive, 48)), "all slots are busy");
        assert_eq!(free(4, 2), Some((ClaimOnly::Headless, 3)));
        assert_eq!(free(4, 50), Some((ClaimOnly::Any, 3)));
        assert_eq!(free(4, 3), Some((ClaimOnly::Any, 1)), "it may be interactive");
    }
}
