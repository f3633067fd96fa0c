//! JSON schemas of what tools take and give.
//!
//! Owns their form: plain enough for every vendor's model. Must never be the only place where an argument is checked.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// What a tool takes: nothing beyond the named arguments, each with its type. That an argument may be left out is said by
/// `required` alone, because some models take a type with `null` for something that they have to fill in.
pub(super) fn arguments<T: JsonSchema>() -> JsonObject {
    let mut schema = plain::<T>();
    without_null(&mut schema);
    let mut object = object(schema);
    object.entry("properties").or_insert_with(|| json!({}));
    object.insert("additionalProperties".to_owned(), false.into());
    object
}

/// What a tool gives. Nothing is required: clients hold the content of an error, which has a code, a message and a hint,
/// to the same schema.
pub(super) fn answer<T: JsonSchema>() -> JsonObject {
    let mut object = object(plain::<T>());
    object.remove("required");
    object
}

fn plain<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    without_format(&mut schema);
    with_plain_words(&mut schema);
    schema
}

/// Words that are described one by one are a list of choices, which not every vendor knows: as a list of words.
fn with_plain_words(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let words = object.get("oneOf").and_then(Value::as_array).and_then(|choices| {
                choices
                    .iter()
                    .map(|choice| choice.get("const").filter(|word| word.is_string()).cloned())
                    .collect()
            });
            if let Some(words) = words {
                object.remove("oneOf");
                object.insert("type".to_owned(), "string".into());
                object.insert("enum".to_owned(), Value::Array(words));
            }
            object.values_mut().for_each(with_plain_words);
        }
        Value::Array(list) => list.iter_mut().for_each(with_plain_words),
        _ => {}
    }
}

fn object(schema: Value) -> JsonObject {
    let Value::Object(mut object) = schema else { return JsonObject::new() };
    object.remove("title");
    object
}

/// `uint32` and the like are words of no standard, and some vendors refuse what they do not know.
fn without_format(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // An argument may be called so, too.
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            object.values_mut().for_each(without_format);
        }
        Value::Array(list) => list.iter_mut().for_each(without_format),
        _ => {}
    }
}

fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&json!("null")));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(list) => list.iter_mut().for_each(without_null),
        _ => {}
    }
}
