//! What an agent has used, from what it says in its own way of counting.

use fleet_agents::{AgentEvent, Price, Prices, Tokens};
use fleet_core::limits::dollars;
use fleet_core::run::Totals;

use crate::agents::PRICE_FILE;

/// What the tokens of an agent cost, as far as it does not tell.
#[derive(Debug, Default)]
pub(crate) struct Pricing {
    pub(crate) prices: Prices,
    pub(crate) model: Option<String>,
    /// What a model costs of which no price is known. None where no bound on money has to hold.
    pub(crate) fallback: Option<Price>,
}

#[derive(Debug, Default)]
pub(super) struct UsageTally {
    tokens: Tokens,
    /// What the agent itself says that it cost, and what it had used by then.
    told: Option<(u64, Tokens)>,
    pricing: Pricing,
    price: Option<Price>,
    /// The model that answers, as the agent tells.
    answering: Option<String>,
}

impl UsageTally {
    /// The model that answers, as far as it is known.
    pub(super) fn model(&self) -> Option<&str> {
        self.answering.as_deref().or(self.pricing.model.as_deref())
    }

    pub(super) fn new(pricing: Pricing) -> Self {
        let price = pricing.model.as_deref().and_then(|model| pricing.prices.find(model)).cloned();
        Self { pricing, price, ..Self::default() }
    }

    /// Takes an event that may report usage.
    pub(super) fn count(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Model { model } => {
                self.answering = Some(model.clone());
                if self.price.is_none() {
                    self.price = self.pricing.prices.find(model).cloned();
                    self.pricing.model = Some(model.clone());
                }
            }
            AgentEvent::Usage { tokens, counted } => {
                self.tokens = self.tokens.then(*tokens, *counted);
            }
            AgentEvent::Cost { micro_usd, counted } => {
                let before = self.told.map_or(0, |(micro_usd, _)| micro_usd);
                self.told = Some((counted.after(before, *micro_usd), self.tokens));
            }
            _ => {}
        }
    }

    /// All together. Cached tokens were read as well, and are paid for.
    pub(super) fn totals(&self) -> Totals {
        let (told, since) = self.untold();
        let price = self.price.as_ref().or(self.pricing.fallback.as_ref());
        Totals {
            input_tokens: self.tokens.all_input(),
            output_tokens: self.tokens.output,
            micro_usd: told.saturating_add(price.map_or(0, |price| price.of(&since))),
        }
    }

    /// The assumed price if that of the model is unknown, with the name of the model if the agent has told one.
    pub(super) fn guess(&self) -> Option<(&Price, Option<&str>)> {
        let is_guessed = self.price.is_none() && self.untold().1 != Tokens::default();
        let fallback = self.pricing.fallback.as_ref().filter(|_| is_guessed)?;
        Some((fallback, self.pricing.model.as_deref()))
    }

    pub(super) fn guess_notice(&self) -> Option<String> {
        let (price, model) = self.guess()?;
        let (input, output) = (dollars(price.input), dollars(price.output));
        let model = model.map_or_else(|| "its default model".to_owned(), |model| format!("`{model}`"));
        Some(format!(
            "the price of {model} is not known, so its tokens are counted at the highest known price, {input} USD in \
             and {output} USD out for a million"
        ))
    }

    /// How the user of this agent gets money counted at the right price.
    pub(super) fn guess_remedy(&self, agent: &str) -> Option<String> {
        let (_, model) = self.guess()?;
        Some(match model {
            Some(_) => format!("set its price in {PRICE_FILE}"),
            None => format!(
                "name a model (`--model`, or `agents.{agent}.model`), and set the price of that in {PRICE_FILE}"
            ),
        })
    }

    /// What the agent says that it cost, and the tokens that this does not cover. An agent that does not know its price
    /// says that it cost nothing.
    fn untold(&self) -> (u64, Tokens) {
        match self.told {
            Some((told @ 1.., at)) => (told, self.tokens.less(at)),
            Some((0, _)) | None => (0, self.tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use fleet_agents::Counted;

    use super::*;

    fn usage(input: u64, output: u64, counted: Counted) -> AgentEvent {
        AgentEvent::Usage { tokens: Tokens { input, output, cache_read: 1, cache_write: 2 }, counted }
    }

    fn price(model: &str, input: u64) -> Price {
        let (output, cache_read, cache_write) = (5 * input, input / 10, 0);
        Price { model: model.to_owned(), input, output, cache_read, cache_write }
    }

    fn cost(micro_usd: u64, counted: Counted) -> AgentEvent {
        AgentEvent::Cost { micro_usd, counted }
    }

    fn told(tally: &mut UsageTally, events: &[AgentEvent]) -> u64 {
        for event in events {
            tally.count(event);
        }
        tally.totals().micro_usd
    }

    #[test]
    fn deltas_are_added_and_totals_replace() {
        let mut tally = UsageTally::default();
        tally.count(&usage(10, 5, Counted::Delta));
        tally.count(&usage(20, 5, Counted::Delta));
        tally.count(&cost(7, Counted::Delta));
        assert_eq!(tally.totals(), Totals { input_tokens: 36, output_tokens: 10, micro_usd: 7 });
        tally.count(&usage(5, 1, Counted::Total));
        tally.count(&cost(9, Counted::Total));
        assert_eq!(tally.totals(), Totals { input_tokens: 8, output_tokens: 1, micro_usd: 9 });
    }

    #[test]
    fn tokens_of_which_the_agent_does_not_tell_the_cost_are_priced() {
        let prices = Prices::new([vec![price("m", 3_000_000)]]);
        let mut tally = UsageTally::new(Pricing { prices, model: Some("m".to_owned()), fallback: None });
        let tokens = Tokens { input: 1_000, output: 200, cache_read: 10_000, cache_write: 0 };
        let more = AgentEvent::Usage { tokens, counted: Counted::Delta };
        assert_eq!(told(&mut tally, std::slice::from_ref(&more)), 9_000);
        assert_eq!(told(&mut tally, &[cost(0, Counted::Total)]), 9_000, "it does not know its price");
        assert_eq!(told(&mut tally, &[cost(7, Counted::Total)]), 7, "what the agent says counts");
        assert_eq!(told(&mut tally, &[more]), 9_007, "until it says more");
        assert_eq!(tally.guess(), None);
    }

    #[test]
    fn the_model_that_answers_has_the_price_if_none_was_asked_for() {
        let pricing = |model: Option<&str>| {
            let prices = Prices::new([vec![price("mine", 9_000_000), price("m-*", 1_000_000)]]);
            Pricing { prices, model: model.map(ToOwned::to_owned), fallback: None }
        };
        let answers = AgentEvent::Model { model: "m-1".to_owned() };
        let used = usage(1_000_000, 0, Counted::Delta);
        for (asked, dollars) in [(None, 1), (Some("other"), 1), (Some("mine"), 9)] {
            let mut tally = UsageTally::new(pricing(asked));
            assert_eq!(told(&mut tally, &[answers.clone(), used.clone()]) / 1_000_000, dollars, "{asked:?}");
        }
    }

    #[test]
    fn a_model_without_a_price_is_counted_at_the_fallback_and_named() {
        let pricing = |fallback| Pricing { fallback, model: Some("new".to_owned()), ..Pricing::default() };
        let mut tally = UsageTally::new(pricing(Some(price("*", 10_000_000))));
        assert_eq!(tally.guess(), None, "nothing was used");
        assert_eq!(told(&mut tally, &[usage(1_000, 0, Counted::Delta)]), 10_001);
        assert_eq!(tally.guess().map(|(price, model)| (price.input, model)), Some((10_000_000, Some("new"))));
        assert_eq!(told(&mut tally, &[cost(7, Counted::Delta)]), 7);
        assert_eq!(tally.guess(), None, "the agent tells");
        let unnamed = Pricing { model: None, ..pricing(Some(price("*", 10_000_000))) };
        let mut tally = UsageTally::new(unnamed);
        tally.count(&usage(1_000, 0, Counted::Delta));
        assert_eq!(tally.guess().map(|(_, model)| model), Some(None), "nobody has named it");
        let mut tally = UsageTally::new(pricing(None));
        assert_eq!(
            told(&mut tally, &[usage(1_000, 0, Counted::Delta)]),
            0,
            "without a bound it is not known"
        );
        assert_eq!(tally.guess(), None);
    }
}
