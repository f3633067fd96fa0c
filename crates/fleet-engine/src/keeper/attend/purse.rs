//! What the agent may still use.

use fleet_core::budget::Bounds;
use fleet_core::event::Fact;
use fleet_core::outcome::AgentExit;
use fleet_core::run::Totals;
use fleet_core::watchdog::Overrun;
use fleet_store::ops;
use tokio::time::timeout;

use super::{Attendance, DRAIN, Keeper};
use crate::{agents, clock};

impl Keeper<'_> {
    /// What the agent may use: the limits of its task, and what was put aside for it.
    pub(super) fn use_bounds(&self) -> Bounds {
        let (limits, reserved) = (self.task.spec.limits, self.run.reserved);
        Bounds {
            tokens: least(limits.tokens, reserved.tokens),
            micro_usd: least(limits.micro_usd, reserved.micro_usd),
        }
    }

    /// Whether something was put aside for this run that is not its task's own limit.
    fn has_purse(&self) -> bool {
        self.run.reserved.tokens.is_some() || self.run.reserved.micro_usd.is_some()
    }
}

impl Attendance<'_> {
    /// Holds what the agent has used so far against what it may use.
    pub(super) fn count_use(&mut self) {
        let totals = self.journal.totals();
        self.dog.used(totals.input_tokens.saturating_add(totals.output_tokens), totals.micro_usd);
        self.tell_guess();
        self.look_at_purse();
    }

    /// People are told once that money is counted at a price that is not the model's own.
    fn tell_guess(&mut self) {
        if self.is_guess_told {
            return;
        }
        let remedy = self.journal.guess_remedy(&self.keeper.run.agent);
        if let Some((guess, remedy)) = self.journal.guess().zip(remedy) {
            self.is_guess_told = true;
            let text = format!("{guess}; {remedy}");
            self.journal.note(Fact::RunWarned { text }, clock::now());
        }
    }

    /// People are told of a bound that could not hold, because the agent has told nothing of what it used.
    pub(super) fn tell_uncounted(&mut self, exit: &AgentExit) {
        let Bounds { tokens, micro_usd } = self.keeper.use_bounds();
        let is_bounded = tokens.is_some() || micro_usd.is_some();
        if is_bounded
            && exit.is_success()
            && self.stopped.is_none()
            && self.journal.totals() == Totals::default()
        {
            let text =
                "it did not tell what it used, so its limit on tokens or money could not hold".to_owned();
            self.journal.note(Fact::RunWarned { text }, clock::now());
        }
    }

    /// An agent that has nearly used up what was put aside for it gets more of the budget, if there is more; otherwise
    /// people are warned, once.
    fn look_at_purse(&mut self) {
        let percent = self.keeper.config.spending().warn_percent;
        if self.is_warned || self.reserving.is_some() || self.dog.nearly(percent).is_none() {
            return;
        }
        self.ask_for_more();
    }

    /// Whether an agent that has passed a bound may yet get more. Many tell what they use in leaps, so that nobody could
    /// ask before; and others may have left some of the budget meanwhile. Asked once for each bound: one that is the
    /// same afterwards holds.
    pub(super) fn may_get_more(&mut self, overrun: Overrun) -> bool {
        let is_of_budget = matches!(overrun, Overrun::Tokens(_) | Overrun::Money(_));
        if !is_of_budget || !self.keeper.has_purse() {
            return false;
        }
        if self.reserving.is_none() && self.asked_at != Some(overrun) {
            self.asked_at = Some(overrun);
            self.ask_for_more();
        }
        self.reserving.is_some()
    }

    fn ask_for_more(&mut self) {
        let (store, run, fence) = (self.keeper.store.clone(), self.keeper.run.id, self.keeper.run.fence);
        let budget = agents::budget(&self.keeper.config).filter(|_| self.keeper.has_purse());
        self.reserving = Some(tokio::spawn(async move {
            let more = ops::ReserveMore { run, fence, budget: budget?, now: clock::now() };
            // The agent goes on meanwhile, so this must not take long.
            timeout(DRAIN, store.call(more)).await.ok()?.ok()
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
