//! What tokens cost, for agents that do not report it.
//!
//! Owns the lookup and the arithmetic. Must never hold a price itself: prices are data, in a table.

use fleet_core::event::Tokens;

use crate::vendors;

/// The price of a million tokens of a model, in millionths of a US dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    pub model: String,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Price {
    /// What these tokens cost, in millionths of a US dollar.
    pub fn of(&self, tokens: &Tokens) -> u64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
        ];
        let sum = parts.iter().fold(0_u128, |sum, (number, price)| {
            sum.saturating_add(u128::from(*number) * u128::from(*price))
        });
        // To the nearest: what is counted many times must not lean to one side.
        u64::try_from((sum + MILLION / 2) / MILLION).unwrap_or(u64::MAX)
    }
}

const MILLION: u128 = 1_000_000;

/// Price tables; the first match counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    tables: Vec<Vec<Price>>,
}

impl Prices {
    pub fn new(tables: impl IntoIterator<Item = Vec<Price>>) -> Self {
        Self { tables: tables.into_iter().collect() }
    }

    /// The price of a model: from the first table that has one, there the one that says most of its name.
    pub fn find(&self, model: &str) -> Option<&Price> {
        self.tables.iter().find_map(|table| {
            let fits = table.iter().filter(|price| vendors::matches(&price.model, model));
            // One without a star names the model alone, so that it is as long as a name can be.
            fits.max_by_key(|price| (!price.model.ends_with('*'), price.model.len()))
        })
    }

    /// The highest price of each kind of token: what a model costs at most, as far as anything is known.
    pub fn highest(&self) -> Option<Price> {
        let all = || self.tables.iter().flatten();
        let most = |kind: fn(&Price) -> u64| all().map(kind).max();
        Some(Price {
            model: "*".to_owned(),
            input: most(|price| price.input)?,
            output: most(|price| price.output)?,
            cache_read: most(|price| price.cache_read)?,
            cache_write: most(|price| price.cache_write)?,
        })
    }

    /// What these tokens of a model cost, in millionths of a US dollar; `None` if its price is unknown.
    pub fn cost(&self, model: &str, tokens: &Tokens) -> Option<u64> {
        self.find(model).map(|price| price.of(tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(model: &str, input: u64) -> Price {
        Price {
            model: model.to_owned(),
            input,
            output: 4 * input,
            cache_read: input / 10,
            cache_write: 2 * input,
        }
    }

    #[test]
    fn the_first_table_counts_and_there_the_longest_name() {
        let own = vec![price("gpt-5*", 1), price("gpt-5-mini", 2)];
        let built_in =
            vec![price("gpt-5-mini-2026*", 3), price("claude-*", 4), price("claude-x*", 5), price("*", 6)];
        let prices = Prices::new([own, built_in]);
        let found = |model| prices.find(model).map(|price| price.input);
        assert_eq!(
            (found("gpt-5"), found("gpt-5-mini"), found("gpt-5-mini-2026-01")),
            (Some(1), Some(2), Some(1))
        );
        assert_eq!((found("claude-x1"), found("claude-y"), found("other")), (Some(5), Some(4), Some(6)));
        assert_eq!(Prices::default().cost("gpt-5", &Tokens::default()), None);
        let highest = prices.highest().unwrap();
        assert_eq!((highest.input, highest.output, highest.cache_write), (6, 24, 12));
        assert_eq!(Prices::default().highest(), None);
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let prices = Prices::new([vec![price("m", 2_500_000)]]);
        let tokens = Tokens { input: 1_000, output: 100, cache_read: 10_000, cache_write: 10 };
        assert_eq!(prices.cost("m", &tokens), Some(2_500 + 1_000 + 2_500 + 50));
        let one = Tokens { input: 1, ..Tokens::default() };
        assert_eq!(prices.cost("m", &one), Some(3), "2.5 is nearer to 3 by convention");
        let most = Tokens { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX };
        assert_eq!(prices.cost("m", &most), Some(u64::MAX));
    }
}
