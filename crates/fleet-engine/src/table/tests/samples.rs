//! Values that fit a JSON schema: one for each branch of it.

use serde_json::{Map, Value, json};

/// Deeper than any answer; what refers to itself ends here.
const MAX_DEPTH: usize = 12;

/// At least one value, if the schema allows any.
pub(super) fn samples(schema: &Value) -> Vec<Value> {
    Samples { root: schema }.of(schema, 0)
}

struct Samples<'s> {
    root: &'s Value,
}

impl Samples<'_> {
    fn of(&self, schema: &Value, depth: usize) -> Vec<Value> {
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let place = reference.trim_start_matches('#');
            return self.root.pointer(place).map(|there| self.of(there, depth + 1)).unwrap_or_default();
        }
        if let Some(only) = schema.get("const") {
            return vec![only.clone()];
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words.clone();
        }
        let branches = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array());
        let own = self.by_type(schema, depth);
        let whole = match branches {
            None => own,
            Some(branches) => {
                let of_branches: Vec<Value> =
                    branches.iter().flat_map(|branch| self.of(branch, depth + 1)).collect();
                crossed(&own, &of_branches)
            }
        };
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        parts.fold(whole, |all, part| crossed(&all, &self.of(part, depth + 1)))
    }

    fn by_type(&self, schema: &Value, depth: usize) -> Vec<Value> {
        match schema.get("type") {
            Some(Value::String(kind)) => self.of_kind(kind, schema, depth),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                kinds.flat_map(|kind| self.of_kind(kind, schema, depth)).collect()
            }
            // Anything goes, unless branches say more.
            _ if schema.get("oneOf").or(schema.get("anyOf")).or(schema.get("allOf")).is_some() => Vec::new(),
            _ => vec![json!({})],
        }
    }

    fn of_kind(&self, kind: &str, schema: &Value, depth: usize) -> Vec<Value> {
        let example = schema.get("examples").and_then(|examples| examples.get(0)).cloned();
        match kind {
            "null" => vec![Value::Null],
            "boolean" => vec![true.into(), false.into()],
            "integer" => vec![example.or_else(|| schema.get("minimum").cloned()).unwrap_or_else(|| json!(1))],
            "number" => vec![example.unwrap_or_else(|| json!(0.5))],
            "string" => vec![example.unwrap_or_else(|| json!("text"))],
            "array" => self.arrays(schema, depth),
            "object" => self.objects(schema, depth),
            other => panic!("a sample of {other}"),
        }
    }

    /// One with an element of every kind; none, if there are no elements.
    fn arrays(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let first = |item: &Value| self.of(item, depth + 1).into_iter().next();
        if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
            return vec![items.iter().filter_map(first).collect()];
        }
        let items = schema.get("items").map(|item| self.of(item, depth + 1)).unwrap_or_default();
        vec![Value::Array(items)]
    }

    /// One with all properties, and one more for each other value of a property. Maps are empty: no schema says what a key
    /// looks like.
    fn objects(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let all: Vec<(&String, Vec<Value>)> =
            properties.iter().map(|(name, property)| (name, self.of(property, depth + 1))).collect();
        let first = all.iter().filter_map(|(name, values)| Some(((*name).clone(), values.first()?.clone())));
        let whole: Map<String, Value> = first.collect();
        let others =
            all.iter().flat_map(|(name, values)| values.iter().skip(1).map(move |value| (*name, value)));
        let others = others.map(|(name, value)| {
            let mut other = whole.clone();
            other.insert(name.clone(), value.clone());
            Value::Object(other)
        });
        std::iter::once(Value::Object(whole.clone())).chain(others).collect()
    }
}

/// Each of one list with the first of the other: objects have the members of both, anything else stays.
fn crossed(some: &[Value], others: &[Value]) -> Vec<Value> {
    let (Some(first), Some(other)) = (some.first(), others.first()) else {
        return [some, others].concat();
    };
    let of_some = some.iter().map(|one| both(one, other));
    let of_others = others.iter().skip(1).map(|one| both(first, one));
    of_some.chain(of_others).collect()
}

fn both(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => Value::Object(
            one.iter().chain(other).map(|(name, value)| (name.clone(), value.clone())).collect(),
        ),
        (_, other) => other.clone(),
    }
}
