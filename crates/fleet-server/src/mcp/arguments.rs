//! Whether a call fits the schema of its tool, told by the name of the argument that does not.
//!
//! Owns the sentences about arguments, and how near to its type a value has to be: clients quote numbers and lists, and
//! the Python codefleet takes them. Must never know any tool: it reads the schema that the client was given.

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, shortened};
use fleet_engine::config::nearest;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What becomes of arguments that a tool does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// The call is refused.
    Refused,
    /// They are left out with a note, unless one was meant to do something: because it is nearly the name of an argument,
    /// or has a meaning elsewhere.
    LeftOut,
}

/// The arguments of a call, as the tool takes them, and notes about what was left out. An argument that is null counts as
/// left out.
pub(super) fn read<T: DeserializeOwned>(
    tool: &str,
    schema: &JsonObject,
    mut given: JsonObject,
    unknown: Unknown,
) -> Outcome<(T, Vec<String>)> {
    given.retain(|_, value| !value.is_null());
    let mut notes = Vec::new();
    fit_members("", schema, &mut given, &mut |name| {
        if unknown == Unknown::LeftOut {
            notes.push(format!("`{name}` was ignored: {tool} has no such argument"));
        }
        unknown == Unknown::LeftOut
    });
    check(tool, schema, &given)?;
    let args = serde_json::from_value(Value::Object(given))
        .map_err(|error| Problem::new(Code::InvalidValue, format!("{tool}: {error}")))?;
    Ok((args, notes))
}

/// Makes values fit that are nearly right, and leaves out what `may_go`.
fn fit_members(of: &str, schema: &JsonObject, given: &mut JsonObject, may_go: &mut dyn FnMut(&str) -> bool) {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
    given.retain(|name, value| {
        let path = if of.is_empty() { name.clone() } else { format!("{of}.{name}") };
        match known.get(name) {
            Some(property) => fit(&path, property, value, may_go),
            None => return expects_something(name, known) || !may_go(&path),
        }
        true
    });
}

fn fit(path: &str, property: &Value, value: &mut Value, may_go: &mut dyn FnMut(&str) -> bool) {
    if let Some(better) = unquoted(property.get("type").and_then(Value::as_str), value) {
        *value = better;
    }
    match value {
        Value::Array(values) => {
            let Some(items) = property.get("items") else { return };
            for (at, item) in values.iter_mut().enumerate() {
                fit(&format!("{path}[{at}]"), items, item, may_go);
            }
        }
        Value::Object(fields) => {
            let Some(schema) = property.as_object() else { return };
            fit_members(path, schema, fields, may_go);
        }
        _ => {}
    }
}

/// The value of this type that another one means.
fn unquoted(wanted: Option<&str>, value: &Value) -> Option<Value> {
    match (wanted?, value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number, and small")]
        ("integer", Value::Number(number)) if !number.is_i64() && !number.is_u64() => {
            let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15)?;
            Some(Value::from(number as i64))
        }
        ("number", Value::String(text)) => text.trim().parse::<f64>().ok().map(Value::from),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true.into()),
            "false" | "0" | "no" | "off" => Some(false.into()),
            _ => None,
        },
        ("boolean", Value::Number(number)) => match number.as_u64()? {
            0 => Some(false.into()),
            1 => Some(true.into()),
            _ => None,
        },
        ("array", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_array),
        ("object", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

/// Names that mean something in files of workflows or on the command line.
const MEANT_ELSEWHERE: [&str; 9] =
    ["agent", "changes", "checks", "dry_run", "effort", "prompt", "prompt_file", "start", "timeout"];

/// Whether a client that sends this would miss its meaning.
fn expects_something(name: &str, known: &JsonObject) -> bool {
    MEANT_ELSEWHERE.contains(&name) || meant(name, known).is_some()
}

fn meant(name: &str, known: &JsonObject) -> Option<String> {
    nearest(&underscored(name), known.keys().cloned())
}

fn check(tool: &str, schema: &JsonObject, given: &JsonObject) -> Outcome<()> {
    members(None, schema, given)
        .map_err(|problem| Problem { message: format!("{tool}: {problem}"), ..problem })
}

/// The members of an object of this name; the call itself has none.
fn members(of: Option<&str>, schema: &JsonObject, given: &JsonObject) -> Outcome<()> {
    let nothing = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    if let Some(name) = given.keys().find(|name| !known.contains_key(*name)) {
        return Err(unknown(of, name, known));
    }
    let is_there = |name: &str| given.get(name).is_some_and(|value| !value.is_null());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    if let Some(name) = required.filter_map(Value::as_str).find(|name| !is_there(name)) {
        return Err(missing(of, name, known.get(name)));
    }
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        if let Some(property) = known.get(name) {
            fits(&of.map_or_else(|| name.clone(), |of| format!("{of}.{name}")), property, value)?;
        }
    }
    Ok(())
}

fn unknown(of: Option<&str>, name: &str, known: &JsonObject) -> Problem {
    let shown = escaped(name);
    let message = match of {
        None => format!("there is no argument {shown:?}"),
        Some(of) => format!("`{of}` has no field {shown:?}"),
    };
    let problem = Problem::new(Code::InvalidValue, message);
    let problem = match meant(name, known) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    };
    let all = known.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    problem.hint(if all.is_empty() { "it takes none".to_owned() } else { format!("it takes {all}") })
}

/// `dependsOn` as `depends_on`.
fn underscored(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

fn missing(of: Option<&str>, name: &str, property: Option<&Value>) -> Problem {
    let message = match of {
        None => format!("the argument `{name}` is missing"),
        Some(of) => format!("`{of}.{name}` is missing"),
    };
    let problem = Problem::new(Code::InvalidValue, message);
    match property.and_then(|property| property.get("description")).and_then(Value::as_str) {
        Some(about) => problem.hint(format!("`{name}`: {about}")),
        None => problem,
    }
}

fn fits(name: &str, property: &Value, value: &Value) -> Outcome<()> {
    let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_right = match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !is_right {
        return Err(wrong_type(name, kind, value));
    }
    if let Some(allowed) = property.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Err(not_among(name, allowed, value));
    }
    let least = property.get("minimum").and_then(whole);
    let most = property.get("maximum").and_then(whole);
    if let Some(number) = whole(value)
        && (least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most))
    {
        let bound = |bound: Option<i128>, word: &str| bound.map(|bound| format!("{word} {bound}"));
        let bounds: Vec<String> =
            [bound(least, "at least"), bound(most, "at most")].into_iter().flatten().collect();
        let message = format!("`{name}` is {number}: it must be {}", bounds.join(" and "));
        return Err(Problem::new(Code::InvalidValue, message));
    }
    if let (Some(items), Some(values)) = (property.get("items"), value.as_array()) {
        for (at, item) in values.iter().enumerate() {
            fits(&format!("{name}[{at}]"), items, item)?;
        }
    }
    // An object without properties takes any.
    if let (Some(schema), Some(value)) = (property.as_object(), value.as_object())
        && schema.contains_key("properties")
    {
        members(Some(name), schema, value)?;
    }
    Ok(())
}

/// A whole number, whether it has a sign or needs all of 64 bits.
fn whole(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

fn wrong_type(name: &str, wanted: &str, value: &Value) -> Problem {
    let article = if wanted.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    let shown = value.to_string();
    let message = format!("`{name}` must be {article} {wanted}, not {}", escaped(&shortened(&shown, SHOWN)));
    let problem = Problem::new(Code::InvalidValue, message);
    match (wanted, value) {
        ("array", Value::String(text)) => {
            problem.hint(format!("write `[{}]`", Value::from(shortened(text, SHOWN).into_owned())))
        }
        ("integer" | "number" | "boolean", Value::String(_)) => problem.hint("write it without quotes"),
        _ => problem,
    }
}

/// How much of a wrong value is shown.
const SHOWN: usize = 60;

fn not_among(name: &str, allowed: &[Value], value: &Value) -> Problem {
    let words: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    let given = value.as_str().unwrap_or_default();
    let shown = shortened(given, SHOWN);
    let problem = Problem::new(Code::InvalidValue, format!("`{name}` cannot be {:?}", escaped(&shown)));
    let meant = nearest(&given.to_lowercase(), words.iter().map(|word| (*word).to_owned()));
    let problem = match meant {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    };
    problem.hint(format!("it is one of {}", words.join(", ")))
}

#[cfg(test)]
mod tests;
