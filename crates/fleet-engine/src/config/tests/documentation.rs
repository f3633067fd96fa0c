//! The tables of `docs/configuration.md` are made from the table of keys.

use crate::config::key::{Key, KeyScope};
use crate::config::keys;
use crate::config::value::ConfigValue;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
const ORIGIN: &str = "<!-- made from crates/fleet-engine/src/config/keys.rs: ";
const END: &str = "<!-- end -->";
const AGENTS: &str = "agents.*.";

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn table(heads: &[&str], rows: impl Iterator<Item = String>) -> String {
    let line = format!("|{}\n", "---|".repeat(heads.len()));
    [row(heads), line].into_iter().chain(rows).collect()
}

fn default(key: &Key) -> String {
    key.default
        .map_or_else(String::new, |text| format!("`{}`", ConfigValue::from_text(key.kind, text).unwrap()))
}

fn who(key: &Key) -> &'static str {
    match key.scope {
        KeyScope::Anywhere => "yes",
        KeyScope::UserOnly => "no",
        KeyScope::Consented => "with consent",
        KeyScope::Raising => "more: with consent",
        KeyScope::Lowering(_) => "only lower",
    }
}

fn general() -> String {
    let general = keys::all().filter(|key| !key.name.starts_with(AGENTS)).map(|key| {
        let (name, values) = (format!("`{}`", key.name), key.kind.to_string());
        row(&[&name, &values, &default(key), who(key), key.doc.trim_end_matches('.')])
    });
    table(&["key", "values", "default", "a project may set it", "meaning"], general)
}

fn of_agents() -> String {
    let agents =
        keys::all().filter_map(|key| Some((key, key.name.strip_prefix(AGENTS)?))).map(|(key, name)| {
            let (name, values) = (format!("`{}`", name.replace('*', "VARIABLE")), key.kind.to_string());
            row(&[&name, &values, who(key), key.doc.trim_end_matches('.')])
        });
    table(&["key under `agents.NAME`", "values", "a project may set it", "meaning"], agents)
}

/// The page with this table in its place.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let begin = format!("{ORIGIN}{name} -->\n");
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{begin}{table}{END}{after}")
}

#[test]
fn the_documentation_has_every_key() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let wanted = with_table(&with_table(&page, "the keys", &general()), "the keys of agents", &of_agents());
    if page != wanted {
        std::fs::write(PAGE, wanted).unwrap();
        panic!(
            "docs/configuration.md was not up to date; it is now: look at the change, and run the test again"
        );
    }
}
