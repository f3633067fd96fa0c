//! An entry in JSON, with or without comments: everything else stays as it is.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue as Input, CstNode, CstObject, CstRootNode};

use super::client::Layout;
use super::entry::{HOME, ServerEntry};
use super::{Edited, Made};
use fleet_api::verbs::setup::NAME;

/// What a client accepts beyond JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonDialect {
    Strict,
    Comments,
    /// Comments, and a comma behind the last item.
    CommentsAndCommas,
}

impl Layout {
    /// The table that holds the entries.
    const fn table(self) -> &'static str {
        match self {
            Self::Servers { .. } => "mcpServers",
            Self::Local => "mcp",
        }
    }

    const fn environment(self) -> &'static str {
        match self {
            Self::Servers { .. } => "env",
            Self::Local => "environment",
        }
    }

    fn parts(self, entry: &ServerEntry) -> Vec<(&'static str, Input)> {
        let list = |words: &[String]| Input::Array(words.iter().cloned().map(Input::String).collect());
        let text = |text: &str| Input::String(text.to_owned());
        let (program, arguments) =
            entry.words.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let mut parts = match self {
            Self::Servers { typed } => {
                let kind = typed.then(|| ("type", text("stdio")));
                kind.into_iter().chain([("command", text(program)), ("args", list(arguments))]).collect()
            }
            Self::Local => {
                vec![("type", text("local")), ("command", list(&entry.words)), ("enabled", Input::Bool(true))]
            }
        };
        if let Some(home) = &entry.home {
            parts.push((self.environment(), Input::Object(vec![(HOME.to_owned(), text(home))])));
        }
        parts
    }
}

pub(super) fn found(text: &str, layout: Layout, dialect: JsonDialect) -> Result<Option<ServerEntry>, String> {
    let (_, top) = parse(text, dialect)?;
    let Some(table) = table(&top, layout)? else { return Ok(None) };
    Ok(table.get(NAME).map(|entry| read(entry.value(), layout)))
}

pub(super) fn with(
    text: &str,
    entry: &ServerEntry,
    layout: Layout,
    dialect: JsonDialect,
) -> Result<Edited, String> {
    let (root, top) = parse(text, dialect)?;
    let made = if table(&top, layout)?.is_some() { Made::Entry } else { Made::Table };
    let table = top.object_value_or_create(layout.table()).ok_or_else(|| not_an_object(layout.table()))?;
    let whole = || Input::Object(owned(layout.parts(entry)));
    match table.get(NAME) {
        None => drop(table.append(NAME, whole())),
        Some(old) => match old.object_value().filter(|_| read(old.value(), layout).is_ours(entry)) {
            // What the user added to our entry stays.
            Some(old) => {
                for (name, value) in layout.parts(entry) {
                    fill(&old, name, value);
                }
            }
            None => old.set_value(whole()),
        },
    }
    Ok(Edited { text: ended(&root.to_string(), text), made })
}

pub(super) fn without(
    text: &str,
    made: Made,
    layout: Layout,
    dialect: JsonDialect,
) -> Result<Option<String>, String> {
    let (root, top) = parse(text, dialect)?;
    if let Some(entry) = table(&top, layout)?.and_then(|table| table.get(NAME)) {
        entry.remove();
    }
    let is_empty = |object: &CstObject| object.properties().is_empty();
    if made != Made::Entry
        && table(&top, layout)?.is_some_and(|table| is_empty(&table))
        && let Some(table) = top.get(layout.table())
    {
        table.remove();
    }
    if made == Made::File && is_empty(&top) {
        return Ok(None);
    }
    Ok(Some(root.to_string()))
}

fn parse(text: &str, dialect: JsonDialect) -> Result<(CstRootNode, CstObject), String> {
    // The parser that keeps comments takes them everywhere.
    if dialect == JsonDialect::Strict && !text.trim().is_empty() {
        serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map_err(|error| format!("not valid JSON: {error}"))?;
    }
    let options = ParseOptions {
        allow_comments: dialect != JsonDialect::Strict,
        allow_trailing_commas: dialect == JsonDialect::CommentsAndCommas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options).map_err(|error| {
        format!(
            "line {}, column {}: not valid JSON: {}",
            error.line_display(),
            error.column_display(),
            error.kind()
        )
    })?;
    let top = root.object_value_or_create().ok_or_else(|| "it is JSON, but not an object".to_owned())?;
    Ok((root, top))
}

fn table(top: &CstObject, layout: Layout) -> Result<Option<CstObject>, String> {
    let Some(table) = top.get(layout.table()) else { return Ok(None) };
    table.object_value().map(Some).ok_or_else(|| not_an_object(layout.table()))
}

fn not_an_object(name: &str) -> String {
    format!("`{name}` is not an object")
}

/// What an entry starts. An entry without a program, such as an address, has none.
fn read(value: Option<CstNode>, layout: Layout) -> ServerEntry {
    let Some(entry) = value.and_then(|value| value.as_object()) else {
        return ServerEntry { words: Vec::new(), home: None };
    };
    let part = |name: &str| entry.get(name).and_then(|part| part.value());
    let words = match layout {
        Layout::Servers { .. } => part("command").and_then(|command| string(&command)).map(|command| {
            let arguments = part("args").map(|arguments| strings(&arguments)).unwrap_or_default();
            std::iter::once(command).chain(arguments).collect()
        }),
        Layout::Local => part("command").map(|command| strings(&command)),
    };
    let environment = part(layout.environment()).and_then(|part| part.as_object());
    let home = environment.and_then(|variables| variables.get(HOME)?.value()).and_then(|home| string(&home));
    ServerEntry { words: words.unwrap_or_default(), home }
}

fn string(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

/// A value that is not a string stays visible as such, so that nothing is mistaken for ours.
fn strings(node: &CstNode) -> Vec<String> {
    let items = node.as_array().map(|array| array.elements()).unwrap_or_default();
    items.iter().map(|item| string(item).unwrap_or_else(|| item.to_string())).collect()
}

/// The same, where an object is filled and not replaced: what the user added to it stays.
fn fill(object: &CstObject, name: &str, value: Input) {
    match (value, object.object_value(name)) {
        (Input::Object(parts), Some(there)) => {
            for (name, value) in parts {
                put(&there, &name, value);
            }
        }
        (value, _) => put(object, name, value),
    }
}

fn put(object: &CstObject, name: &str, value: Input) {
    match object.get(name) {
        Some(part) => part.set_value(value),
        None => drop(object.append(name, value)),
    }
}

fn owned(parts: Vec<(&str, Input)>) -> Vec<(String, Input)> {
    parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A new file ends with a line break; one that has none keeps it so.
fn ended(text: &str, before: &str) -> String {
    if before.trim().is_empty() { format!("{}\n", text.trim_end()) } else { text.to_owned() }
}
