//! An answer that follows a schema: the smallest value that a JSON schema allows.

use serde_json::{Map, Value};

/// Deep enough for any schema of ours; one that contains itself ends here.
const DEEPEST: usize = 16;
const MAX_ITEMS: u64 = 8;

/// A value of this schema. Every property is there, because strict schemas demand all of them.
pub(super) fn instance(schema: &Value) -> Value {
    at_depth(schema, DEEPEST)
}

fn at_depth(schema: &Value, left: usize) -> Value {
    let choice = schema["enum"].get(0).or_else(|| schema.get("const"));
    if let Some(value) = choice {
        return value.clone();
    }
    let Some(left) = left.checked_sub(1) else { return Value::Null };
    if let Some(first) = schema["anyOf"].get(0).or_else(|| schema["oneOf"].get(0)) {
        return at_depth(first, left);
    }
    match kind(schema).as_str() {
        "object" => object(schema, left),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0).min(MAX_ITEMS);
            (0..least).map(|_| at_depth(&schema["items"], left)).collect()
        }
        "string" => Value::from("scripted"),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| Value::from(1)),
        "boolean" => Value::from(true),
        _ => Value::Null,
    }
}

/// Google writes types in capitals; a list of types means that any of them will do.
fn kind(schema: &Value) -> String {
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    let implied = if schema.get("properties").is_some() { "object" } else { "" };
    kind.unwrap_or(implied).to_ascii_lowercase()
}

fn object(schema: &Value, left: usize) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let fields: Map<_, _> = properties.map(|(name, schema)| (name.clone(), at_depth(schema, left))).collect();
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_follow_their_schema() {
        let schema = json!({"type": "object", "properties": {
            "status": {"enum": ["completed", "blocked"]},
            "summary": {"type": "STRING"},
            "score": {"type": ["integer", "null"]},
            "least": {"type": "number", "minimum": 3},
            "files": {"type": "array", "items": {"type": "string"}},
            "some": {"type": "array", "minItems": 1, "items": {"type": "boolean"}},
            "either": {"anyOf": [{"const": 4}, {"type": "string"}]},
        }});
        let expected = json!({"status": "completed", "summary": "scripted", "score": 1, "least": 3, "files": [],
                              "some": [true], "either": 4});
        assert_eq!(instance(&schema), expected);
    }

    #[test]
    fn a_deep_schema_ends() {
        let deep = (0..100).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "object", "properties": {"in": inner}}),
        );
        let text = instance(&deep).to_string();
        assert!(text.contains("null") && text.len() < 200, "{text}");
    }
}
