use clap::Args;
use fleet_api::verbs::agents_prices::{PriceView, Request};

use super::super::Context;
use crate::Done;
use crate::output::{columns, dim, table};

/// Show token prices, for agents that report no cost, and where each comes from
///
/// Prices of your own go into `prices.toml` in $FLEET_HOME, and come first: `[models."gpt-5*"]` with `input`, `output`,
/// `cache_read` and `cache_write` in dollars for a million tokens. A model without a price shows no cost.
#[derive(Debug, Args)]
#[command(display_order = 50)]
pub(crate) struct Prices {}

impl Prices {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        let found = context.call(Request::default()).await?;
        context.output.show(&found, || render(&found.prices))?;
        context.output.note(&dim(&format!("dollars for a million tokens; yours go into {}", found.file)));
        Ok(())
    }
}

fn render(prices: &[PriceView]) -> String {
    let column = columns(prices);
    table(vec![
        column("MODEL", &|price| price.model.clone()).giving_way(),
        column("INPUT", &|price| dollars(price.input)),
        column("OUTPUT", &|price| dollars(price.output)),
        column("CACHE READ", &|price| dollars(price.cache_read)),
        column("CACHE WRITE", &|price| dollars(price.cache_write)),
        column("FROM", &source).painted(dim).giving_way(),
    ])
}

fn source(price: &PriceView) -> String {
    let place = price.file.clone().unwrap_or_else(|| "built in".to_owned());
    price.date.as_deref().map_or_else(|| place.clone(), |date| format!("{place}, {date}"))
}

/// Exact: a tenth of a cent is a lot for a million tokens of a small model.
fn dollars(micro_usd: u64) -> String {
    let (whole, rest) = (micro_usd / 1_000_000, micro_usd % 1_000_000);
    let digits = format!("{rest:06}");
    let kept = digits.trim_end_matches('0');
    format!("{whole}.{kept:0<2}")
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn amounts_are_exact_and_have_cents() {
        let shown = [0, 1_250_000, 10_000_000, 125_000, 75_000, 1].map(dollars);
        assert_eq!(shown, ["0.00", "1.25", "10.00", "0.125", "0.075", "0.000001"]);
    }
}
