//! The tables of prices: the user's own, over the one that comes with codefleet.
//!
//! Owns the format of both, which is the same. An error in the user's file is reported with its line; it is never
//! passed over, because every sum that people see would be another one.

use std::path::{Path, PathBuf};

use fleet_agents::{Price, Prices};
use fleet_core::limits::Limit;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use toml_edit::{Document, Item, TableLike};

use super::mcp;
use crate::Engine;

const BUILT_IN: &str = include_str!("prices.toml");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTable {
    /// The file of the user; `None` is what comes with codefleet.
    pub file: Option<PathBuf>,
    /// When it was made, if it says so.
    pub date: Option<String>,
    pub prices: Vec<Price>,
}

pub(crate) const PRICE_FILE: &str = "$FLEET_HOME/prices.toml";

/// The user's file, which need not exist.
pub fn price_file(engine: &Engine) -> PathBuf {
    engine.home().root().join("prices.toml")
}

/// The first table that knows a model counts.
pub fn price_tables(engine: &Engine) -> Outcome<Vec<PriceTable>> {
    let file = price_file(engine);
    let mut tables = Vec::with_capacity(2);
    if file.exists() {
        let table = parse(&mcp::text("prices", &file)?, &file)?;
        tables.push(PriceTable { file: Some(file), ..table });
    }
    tables.push(parse(BUILT_IN, Path::new("prices.toml"))?);
    Ok(tables)
}

pub fn prices(engine: &Engine) -> Outcome<Prices> {
    Ok(Prices::new(price_tables(engine)?.into_iter().map(|table| table.prices)))
}

fn parse(text: &str, file: &Path) -> Outcome<PriceTable> {
    let wrong = |why: String| {
        Problem::new(Code::ConfigInvalid, format!("{}: {why}", file.display()))
            .hint("a price looks like `[models.\"gpt-5*\"]` and, below it, `input = 1.25` and `output = 10`")
    };
    let document = Document::parse(text)
        .map_err(|error| wrong(format!("not valid TOML: {}", error.message().trim())))?;
    let root = document.as_table();
    if let Some((name, _)) = root.iter().find(|(name, _)| !["date", "models"].contains(name)) {
        return Err(wrong(format!("there is nothing called `{}`", escaped(name))));
    }
    let models = match root.get("models").map(Item::as_table_like) {
        None => return Ok(PriceTable { file: None, date: date(root), prices: Vec::new() }),
        Some(Some(models)) => models,
        Some(None) => return Err(wrong("`models` is not a table".to_owned())),
    };
    let price = |(model, item): (&str, &Item)| {
        let row = item.as_table_like().ok_or_else(|| "it is not a table".to_owned());
        let price = row.and_then(|row| price(model, row));
        price.map_err(|why| wrong(format!("models.\"{}\": {why}", escaped(model))))
    };
    let prices = models.iter().map(price).collect::<Outcome<Vec<_>>>()?;
    Ok(PriceTable { file: None, date: date(root), prices })
}

fn date(root: &toml_edit::Table) -> Option<String> {
    root.get("date").and_then(Item::as_str).map(ToOwned::to_owned)
}

/// What is not said about the cache costs as much as any other input.
fn price(model: &str, row: &dyn TableLike) -> Result<Price, String> {
    const KINDS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];
    if let Some((name, _)) = row.iter().find(|(name, _)| !KINDS.contains(name)) {
        return Err(format!("there is no kind of tokens called `{}`", escaped(name)));
    }
    let amount = |kind: &str| row.get(kind).map(|item| amount(kind, item)).transpose();
    let needed = |kind: &str| amount(kind)?.ok_or_else(|| format!("`{kind}` is missing"));
    let (input, output) = (needed("input")?, needed("output")?);
    let cache_read = amount("cache_read")?.unwrap_or(input);
    let cache_write = amount("cache_write")?.unwrap_or(input);
    Ok(Price { model: model.to_owned(), input, output, cache_read, cache_write })
}

/// Dollars, as limits of tasks are written; but something may be free.
fn amount(kind: &str, item: &Item) -> Result<u64, String> {
    let text = match item.as_value() {
        Some(toml_edit::Value::Integer(number)) => number.value().to_string(),
        Some(toml_edit::Value::Float(number)) => number.value().to_string(),
        Some(toml_edit::Value::String(text)) => text.value().clone(),
        _ => String::new(),
    };
    match format!("usd={text}").parse() {
        Ok(Limit::MicroUsd(Some(amount))) => Ok(amount),
        _ if text == "0" => Ok(0),
        _ => Err(format!("`{kind}` must be dollars for a million tokens, such as `1.25`")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fleet_agents::vendors::vendor_of;

    use super::*;

    fn of(text: &str) -> Result<Vec<Price>, String> {
        let table = parse(text, Path::new("/x/prices.toml"));
        table.map(|table| table.prices).map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_built_in_table_is_sound() {
        let table = parse(BUILT_IN, Path::new("prices.toml")).unwrap();
        assert!(table.date.is_some_and(|date| date.len() == 10), "it says of when it is");
        let names: BTreeSet<&str> = table.prices.iter().map(|price| price.model.as_str()).collect();
        assert_eq!(names.len(), table.prices.len());
        for price in &table.prices {
            assert!(vendor_of(&price.model).is_some(), "{} is somebody's", price.model);
            assert!(price.cache_read < price.input && price.input <= price.cache_write, "{}", price.model);
            assert!(price.input < price.output && price.output <= 100_000_000, "{}", price.model);
        }
    }

    #[test]
    fn amounts_are_dollars_for_a_million_tokens() {
        let text = "[models.a]\ninput = 1.25\noutput = '10'\ncache_read = 0.125\ncache_write = 0\n\
                    [models.'b*']\ninput = 2\noutput = 4\n";
        let prices = of(text).unwrap();
        let seen: Vec<_> = prices
            .iter()
            .map(|price| {
                (price.model.as_str(), price.input, price.output, price.cache_read, price.cache_write)
            })
            .collect();
        assert_eq!(
            seen,
            [("a", 1_250_000, 10_000_000, 125_000, 0), ("b*", 2_000_000, 4_000_000, 2_000_000, 2_000_000)]
        );
        assert_eq!(of("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, why) in [
            ("[models.a]\ninput = 1\n", "models.\"a\": `output` is missing"),
            ("[models.a]\ninput = -1\noutput = 1\n", "models.\"a\": `input` must be dollars"),
            ("[models.a]\ninput = 1\noutput = 1\nimages = 1\n", "no kind of tokens called `images`"),
            ("models = 1", "`models` is not a table"),
            ("[model.a]\n", "there is nothing called `model`"),
            ("[models.a]\ninput = nan\noutput = 1", "`input` must be dollars"),
            ("x", "not valid TOML"),
        ] {
            let told = of(text).unwrap_err();
            assert!(told.starts_with("/x/prices.toml: ") && told.contains(why), "{text}: {told}");
        }
    }
}
