//! TOML with places.

use toml_edit::{Document, Item, TableLike};

use super::node::{MAX_DEPTH, Node, NodeKey, NodeValue, UnreadableText};

pub(super) fn read(text: &str) -> Result<Node, UnreadableText> {
    let document = Document::parse(text).map_err(|error| {
        let why: Vec<&str> = error.message().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let at = error.span().map_or(0, |span| span.start);
        UnreadableText::new(at, format!("not valid TOML: {}", why.join(", ")))
    })?;
    Ok(Node { at: 0..0, value: table(document.as_table(), 0)? })
}

fn table(table: &dyn TableLike, depth: usize) -> Result<NodeValue, UnreadableText> {
    let mut entries = Vec::new();
    for (name, item) in table.iter() {
        let value = node(item, depth + 1)?;
        let at = table.key(name).and_then(toml_edit::Key::span).unwrap_or_else(|| value.at.clone());
        entries.push((NodeKey { at, text: name.to_owned() }, value));
    }
    Ok(NodeValue::Table(entries))
}

fn node(item: &Item, depth: usize) -> Result<Node, UnreadableText> {
    let at = item.span().unwrap_or(0..0);
    if depth > MAX_DEPTH {
        return Err(UnreadableText::too_deep(at.start));
    }
    let value = match item {
        Item::None => NodeValue::Null,
        Item::Value(value) => return self::value(value, depth),
        Item::Table(inner) => table(inner, depth)?,
        Item::ArrayOfTables(tables) => {
            let one = |inner: &toml_edit::Table| {
                Ok(Node { at: inner.span().unwrap_or(0..0), value: table(inner, depth + 1)? })
            };
            NodeValue::List(tables.iter().map(one).collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { at, value })
}

fn value(value: &toml_edit::Value, depth: usize) -> Result<Node, UnreadableText> {
    let at = value.span().unwrap_or(0..0);
    if depth > MAX_DEPTH {
        return Err(UnreadableText::too_deep(at.start));
    }
    let value = match value {
        toml_edit::Value::String(text) => NodeValue::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => NodeValue::Number(number.value().to_string()),
        toml_edit::Value::Float(number) => NodeValue::Number(number.value().to_string()),
        toml_edit::Value::Boolean(yes) => NodeValue::Bool(*yes.value()),
        toml_edit::Value::Datetime(moment) => NodeValue::Text(moment.value().to_string()),
        toml_edit::Value::Array(values) => NodeValue::List(
            values.iter().map(|inner| self::value(inner, depth + 1)).collect::<Result<_, _>>()?,
        ),
        toml_edit::Value::InlineTable(inner) => table(inner, depth)?,
    };
    Ok(Node { at, value })
}
