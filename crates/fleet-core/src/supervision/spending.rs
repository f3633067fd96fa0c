//! What the agent may still use.

use super::{BackgroundWork, Supervision, SupervisionEnd};
use crate::budget::{Bounds, Used};
use crate::watchdog::Overrun;

const NOT_METERED: &str =
    "it did not report its usage, so its limit on tokens or money could not be enforced";

impl Supervision {
    /// A warning about a limit that could not hold because the agent did not report what it `used`.
    pub fn unmetered(&self, verdict: &SupervisionEnd, used: Used) -> Option<&'static str> {
        let bounds = self.settings.bounds;
        let is_bounded = bounds.tokens.is_some() || bounds.micro_usd.is_some();
        let has_ended_well = verdict.exit.is_success() && verdict.stopped.is_none();
        (is_bounded && has_ended_well && used == Used::default()).then_some(NOT_METERED)
    }

    /// Warns once that money is counted at a price that is not the model's own.
    pub(super) fn tell_guess(&mut self) {
        let Some(guess) = self.price_guess.as_ref().filter(|_| !self.is_guess_told) else { return };
        let text = format!("{}; {}", guess.text, guess.remedy);
        self.is_guess_told = true;
        self.warn(text);
    }

    /// An agent that has nearly used up what is reserved for it gets more of the budget, if there is more; otherwise
    /// people are warned, once.
    pub(super) fn check_reservation(&mut self) {
        if self.is_warned || self.is_under_way(BackgroundWork::Reserve) || self.near_bound().is_none() {
            return;
        }
        if self.settings.has_reservation {
            self.start(BackgroundWork::Reserve);
        } else {
            self.warn_near_bound();
        }
    }

    /// Whether an agent that has passed a bound may yet get more. Many report their usage rarely, so that no request
    /// was possible before; and others may have freed some of the budget meanwhile. Requested once for each bound: a
    /// bound that is the same afterwards holds.
    pub(super) fn may_get_more(&mut self, overrun: Overrun) -> bool {
        let is_of_budget = matches!(overrun, Overrun::Tokens(_) | Overrun::Money(_));
        if !is_of_budget || !self.settings.has_reservation {
            return false;
        }
        if !self.is_under_way(BackgroundWork::Reserve) && self.asked_at != Some(overrun) {
            self.asked_at = Some(overrun);
            self.start(BackgroundWork::Reserve);
        }
        self.is_under_way(BackgroundWork::Reserve)
    }

    pub(super) fn reserved(&mut self, now: Option<Bounds>) {
        let limits = self.settings.limits;
        if let Some(now) = now {
            let Bounds { tokens, micro_usd } = limits.stricter(now);
            self.watchdog.allow(tokens, micro_usd);
        }
        if self.is_running() {
            self.warn_near_bound();
        }
    }

    fn warn_near_bound(&mut self) {
        if let Some(text) = self.near_bound() {
            self.is_warned = true;
            self.warn(text);
        }
    }

    fn near_bound(&self) -> Option<String> {
        self.watchdog.nearly(self.settings.warn_percent)
    }
}
