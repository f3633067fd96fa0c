//! An entry in TOML: everything else stays as it is.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::entry::{HOME, ServerEntry};
use super::{Edited, Made};
use fleet_api::verbs::setup::NAME;

/// The table that holds the entries.
const TABLE: &str = "mcp_servers";

pub(super) fn found(text: &str) -> Result<Option<ServerEntry>, String> {
    let document = parse(text)?;
    let Some(table) = document.get(TABLE) else { return Ok(None) };
    Ok(table.as_table_like().ok_or_else(not_a_table)?.get(NAME).map(read))
}

pub(super) fn with(text: &str, entry: &ServerEntry) -> Result<Edited, String> {
    let mut document = parse(text)?;
    let made = if document.contains_key(TABLE) { Made::Entry } else { Made::Table };
    let table = document.entry(TABLE).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let is_inline = table.is_inline_table();
    let table = table.as_table_like_mut().ok_or_else(not_a_table)?;
    match table.get_mut(NAME).filter(|old| read(old).is_ours(entry)).and_then(Item::as_table_like_mut) {
        // What the user added to our entry stays.
        Some(old) => fill(old, entry),
        None if is_inline => {
            let mut inline = InlineTable::new();
            fill(&mut inline, entry);
            table.insert(NAME, value(inline));
        }
        None => {
            let mut new = Table::new();
            fill(&mut new, entry);
            if !text.trim().is_empty() {
                new.decor_mut().set_prefix("\n");
            }
            table.insert(NAME, Item::Table(new));
        }
    }
    Ok(Edited { text: as_before(document.to_string(), text), made })
}

pub(super) fn without(text: &str, made: Made) -> Result<Option<String>, String> {
    let mut document = parse(text)?;
    if let Some(table) = document.get_mut(TABLE) {
        let table = table.as_table_like_mut().ok_or_else(not_a_table)?;
        table.remove(NAME);
        if made != Made::Entry && table.is_empty() {
            document.remove(TABLE);
        }
    }
    let rest = as_before(document.to_string(), text);
    Ok(if made == Made::File && rest.trim().is_empty() { None } else { Some(rest) })
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
        let line = before.split('\n').count();
        let message: Vec<&str> = error.message().lines().map(str::trim).collect();
        format!("line {line}: not valid TOML: {}", message.join(", "))
    })
}

/// With the line breaks of the file: the document knows only one kind.
fn as_before(edited: String, before: &str) -> String {
    if before.contains("\r\n") { edited.replace("\r\n", "\n").replace('\n', "\r\n") } else { edited }
}

fn not_a_table() -> String {
    format!("`{TABLE}` is not a table")
}

/// What an entry starts. An entry without a program, such as an address, has none.
fn read(entry: &Item) -> ServerEntry {
    let part = |name: &str| entry.as_table_like().and_then(|entry| entry.get(name));
    let arguments = part("args").and_then(Item::as_array).into_iter().flatten();
    let arguments = arguments.map(|item| item.as_str().map_or_else(|| item.to_string(), ToOwned::to_owned));
    let words = part("command")
        .and_then(Item::as_str)
        .map(|command| std::iter::once(command.to_owned()).chain(arguments).collect());
    let home = part("env").and_then(Item::as_table_like).and_then(|variables| variables.get(HOME));
    ServerEntry { words: words.unwrap_or_default(), home: home.and_then(Item::as_str).map(ToOwned::to_owned) }
}

fn fill(table: &mut dyn TableLike, entry: &ServerEntry) {
    let (program, arguments) = entry.words.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    table.insert("command", value(program));
    table.insert("args", value(arguments.iter().collect::<Array>()));
    let Some(home) = &entry.home else { return };
    // Variables that the user added stay.
    if let Some(variables) = table.get_mut("env").and_then(Item::as_table_like_mut) {
        variables.insert(HOME, value(home.as_str()));
        return;
    }
    let mut variables = InlineTable::new();
    variables.insert(HOME, home.as_str().into());
    table.insert("env", value(variables));
}
