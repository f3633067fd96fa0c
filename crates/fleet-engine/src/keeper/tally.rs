//! What an agent has used, from what it says in its own way of counting.

use fleet_agents::{AgentEvent, Price, Tokens};
use fleet_core::run::Totals;

/// Adds up.
#[derive(Debug, Default)]
pub(super) struct Tally {
    tokens: Tokens,
    /// What the agent itself says that it cost.
    told: Option<u64>,
    /// What its tokens cost, for agents that do not tell.
    price: Option<Price>,
}

impl Tally {
    /// With a price for an agent that does not tell what it costs.
    pub(super) fn new(price: Option<Price>) -> Self {
        Self { price, ..Self::default() }
    }

    /// Takes an event that may tell of use.
    pub(super) fn count(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Usage { tokens, counted } => {
                self.tokens = self.tokens.then(*tokens, *counted);
            }
            AgentEvent::Cost { micro_usd, counted } => {
                self.told = Some(counted.after(self.told.unwrap_or(0), *micro_usd));
            }
            _ => {}
        }
    }

    /// All together. Cached tokens were read as well, and are paid for.
    pub(super) fn totals(&self) -> Totals {
        let Tokens { input, output, cache_read, cache_write } = self.tokens;
        let estimated = || self.price.as_ref().map_or(0, |price| price.of(&self.tokens));
        Totals {
            input_tokens: input.saturating_add(cache_read).saturating_add(cache_write),
            output_tokens: output,
            micro_usd: self.told.unwrap_or_else(estimated),
        }
    }
}

#[cfg(test)]
mod tests {
    use fleet_agents::Counted;

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

    #[test]
    fn who_does_not_tell_what_it_costs_is_priced_by_its_tokens() {
        let (input, output, cache_read, cache_write) = (3_000_000, 15_000_000, 300_000, 0);
        let price = Price { model: "m".to_owned(), input, output, cache_read, cache_write };
        let mut tally = Tally::new(Some(price));
        let tokens = Tokens { input: 1_000, output: 200, cache_read: 10_000, cache_write: 0 };
        tally.count(&AgentEvent::Usage { tokens, counted: Counted::Delta });
        assert_eq!(tally.totals().micro_usd, 3_000 + 3_000 + 3_000);
        tally.count(&AgentEvent::Cost { micro_usd: 7, counted: Counted::Delta });
        assert_eq!(tally.totals().micro_usd, 7, "what the agent says counts");
    }
}
