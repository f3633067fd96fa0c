//! What an agent has used, from what it says in its own way of counting.

use fleet_agents::{AgentEvent, Counted, Tokens};
use fleet_core::run::Totals;

/// Adds up.
#[derive(Debug, Default)]
pub(super) struct Tally {
    totals: Totals,
}

impl Tally {
    /// Takes an event that may tell of use.
    pub(super) fn count(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Usage { tokens, counted } => {
                let (input, output) = (input(tokens), tokens.output);
                self.totals.input_tokens = counted_in(self.totals.input_tokens, input, *counted);
                self.totals.output_tokens = counted_in(self.totals.output_tokens, output, *counted);
            }
            AgentEvent::Cost { micro_usd, counted } => {
                self.totals.micro_usd = counted_in(self.totals.micro_usd, *micro_usd, *counted);
            }
            _ => {}
        }
    }

    /// All together.
    pub(super) const fn totals(&self) -> Totals {
        self.totals
    }
}

/// Cached tokens were read as well, and are paid for.
const fn input(tokens: &Tokens) -> u64 {
    tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write)
}

const fn counted_in(before: u64, number: u64, counted: Counted) -> u64 {
    match counted {
        Counted::Delta => before.saturating_add(number),
        Counted::Total => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_added_and_totals_replace() {
        let usage = |input, output, counted| AgentEvent::Usage {
            tokens: Tokens { input, output, cache_read: 1, cache_write: 2 },
            counted,
        };
        let mut tally = Tally::default();
        tally.count(&usage(10, 5, Counted::Delta));
        tally.count(&usage(20, 5, Counted::Delta));
        tally.count(&AgentEvent::Cost { micro_usd: 7, counted: Counted::Delta });
        assert_eq!(tally.totals(), Totals { input_tokens: 36, output_tokens: 10, micro_usd: 7 });
        tally.count(&usage(5, 1, Counted::Total));
        tally.count(&AgentEvent::Cost { micro_usd: 9, counted: Counted::Total });
        assert_eq!(tally.totals(), Totals { input_tokens: 8, output_tokens: 1, micro_usd: 9 });
    }
}
