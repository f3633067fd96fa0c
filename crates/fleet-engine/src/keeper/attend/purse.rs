//! What the agent may still use.

use fleet_core::budget::Bounds;
use fleet_core::event::Fact;
use fleet_store::ops;

use super::{Attendance, Keeper};
use crate::{agents, clock};

impl Keeper<'_> {
    /// Whether something was put aside for this run that is not its task's own limit.
    fn has_purse(&self) -> bool {
        self.run.reserved.tokens.is_some() || self.run.reserved.micro_usd.is_some()
    }
}

impl Attendance<'_> {
    /// An agent that has nearly used up what was put aside for it gets more of the budget, if there is more; otherwise
    /// people are warned, once.
    pub(super) fn look_at_purse(&mut self) {
        let percent = self.keeper.config.spending().warn_percent;
        if self.is_warned || self.reserving.is_some() || self.dog.nearly(percent).is_none() {
            return;
        }
        let (store, run, fence) = (self.keeper.store.clone(), self.keeper.run.id, self.keeper.run.fence);
        let budget = agents::budget(&self.keeper.config).filter(|_| self.keeper.has_purse());
        self.reserving = Some(tokio::spawn(async move {
            let more = ops::ReserveMore { run, fence, budget: budget?, now: clock::now() };
            store.call(more).await.ok()
        }));
    }

    /// What was put aside for the run now.
    pub(super) fn reserved(&mut self, now: Option<Bounds>) {
        let limits = self.keeper.task.spec.limits;
        if let Some(now) = now {
            self.dog.allow(least(limits.tokens, now.tokens), least(limits.micro_usd, now.micro_usd));
        }
        let percent = self.keeper.config.spending().warn_percent;
        if let Some(text) = self.dog.nearly(percent) {
            self.is_warned = true;
            self.journal.note(Fact::RunWarned { text }, clock::now());
        }
    }
}

/// The stricter of two bounds.
pub(super) fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}
