//! The prices that are in force, and where each comes from.

use fleet_core::problem::Outcome;
use serde::Serialize;

use crate::Engine;
use crate::agents;

/// All prices.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The user's own first; those that another one of the same name hides are left out.
    pub prices: Vec<PriceView>,
    /// The file for prices of one's own.
    pub file: String,
}

/// What a million tokens of a model cost, in millionths of a US dollar.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields are those of Price")]
pub struct PriceView {
    pub model: String,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The user's file; null for what comes with codefleet.
    pub file: Option<String>,
    /// Of when the table is.
    pub date: Option<String>,
}

/// Looks them up.
pub fn run(engine: &Engine) -> Outcome<Response> {
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
    Ok(Response { prices, file: agents::price_file(engine).display().to_string() })
}
