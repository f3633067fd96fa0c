//! The prices that are in force, and where each comes from.

use fleet_api::verbs::agents_prices::{Answer, PriceView, Request};

use super::prelude::*;
use crate::agents;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let mut prices: Vec<PriceView> = Vec::new();
    for table in agents::price_tables(engine)? {
        for price in table.prices {
            if prices.iter().any(|known| known.model == price.model) {
                continue;
            }
            prices.push(PriceView {
                model: price.model,
                input: price.input,
                output: price.output,
                cache_read: price.cache_read,
                cache_write: price.cache_write,
                file: table.file.as_ref().map(|file| file.display().to_string()),
                date: table.date.clone(),
            });
        }
    }
    Ok(Answer { prices, file: agents::price_file(engine).display().to_string() })
}
