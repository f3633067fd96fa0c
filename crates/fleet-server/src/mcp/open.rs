//! Parts of answers whose fields the verb decides.
//!
//! Owns how a verb's answer gets the names that clients know. Must never hold what a client has to rely on: that is a type
//! with a schema.

use fleet_core::problem::{Code, Outcome, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// An object that is described in words, because its fields are many and those of `docs/json.md`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct OpenObject(Map<String, Value>);

/// How a field is called by a verb, and here.
pub(super) type RenamedField = (&'static str, &'static str);

impl OpenObject {
    pub(super) fn of(value: &impl Serialize) -> Outcome<Self> {
        Self::renamed(value, &[])
    }

    /// With other names for some fields, wherever in it they are.
    pub(super) fn renamed(value: &impl Serialize, words: &[RenamedField]) -> Outcome<Self> {
        let mut value =
            serde_json::to_value(value).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        rename(&mut value, words);
        match value {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Problem::new(Code::Internal, "internal: a part of the answer is not an object")),
        }
    }

    /// The result of a run. Its tests have the names that other servers give them, too.
    pub(super) fn result(value: &impl Serialize) -> Outcome<Self> {
        let mut open = Self::of(value)?;
        let tests = open.0.get_mut("tests").and_then(Value::as_array_mut).into_iter().flatten();
        for test in tests.filter_map(Value::as_object_mut) {
            let text = |name: &str| test.get(name).and_then(Value::as_str).unwrap_or_default();
            let status = match text("outcome") {
                known @ ("passed" | "failed") => known,
                _ => "not_run",
            };
            let more = [("command", text("name")), ("status", status), ("details", text("detail"))];
            let more = more.map(|(name, text)| (name.to_owned(), Value::from(text)));
            test.extend(more);
        }
        Ok(open)
    }

    pub(super) fn all<T: Serialize>(values: &[T], words: &[RenamedField]) -> Outcome<Vec<Self>> {
        values.iter().map(|value| Self::renamed(value, words)).collect()
    }
}

fn rename(value: &mut Value, words: &[RenamedField]) {
    match value {
        Value::Object(fields) => {
            for (theirs, ours) in words {
                if let Some(field) = fields.remove(*theirs) {
                    fields.insert((*ours).to_owned(), field);
                }
            }
            fields.values_mut().for_each(|field| rename(field, words));
        }
        Value::Array(list) => list.iter_mut().for_each(|item| rename(item, words)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tests_have_the_names_of_other_servers_too() {
        let tests = json!([
            {"name": "cargo test", "outcome": "passed", "detail": "12 of them"},
            {"name": "fuzz", "outcome": "failed"},
            {"name": "bench", "outcome": "skipped"},
            {"name": "lint", "outcome": "unknown"},
        ]);
        let open = OpenObject::result(&json!({"summary": "s", "tests": tests})).unwrap();
        let open = serde_json::to_value(&open).unwrap();
        let shown = |at: usize| {
            let test = &open["tests"][at];
            ["command", "status", "details", "name"].map(|name| test[name].as_str().unwrap().to_owned())
        };
        assert_eq!(shown(0), ["cargo test", "passed", "12 of them", "cargo test"]);
        assert_eq!(shown(1), ["fuzz", "failed", "", "fuzz"]);
        assert_eq!([shown(2)[1].as_str(), shown(3)[1].as_str()], ["not_run", "not_run"]);
        assert_eq!(open["summary"], "s");
    }

    #[test]
    fn fields_are_renamed_at_every_depth_and_lists_are_no_objects() {
        let value = json!({"id": "a", "more": [{"id": "b", "on": "c"}], "id2": 1});
        let open = OpenObject::renamed(&value, &[("id", "task_id"), ("on", "depends_on")]).unwrap();
        let wanted = json!({"task_id": "a", "more": [{"task_id": "b", "depends_on": "c"}], "id2": 1});
        assert_eq!(serde_json::to_value(&open).unwrap(), wanted);
        assert_eq!(OpenObject::of(&[1, 2]).unwrap_err().code, Code::Internal);
    }
}
