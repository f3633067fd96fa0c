use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Until {
    Any,
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Who it is
    worker_id: String,
    count: Option<u32>,
    until: Option<Until>,
    tags: Option<Vec<String>>,
    parts: Option<Vec<Part>>,
    #[schemars(range(max = 500))]
    most: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    depends_on: Option<Vec<u32>>,
}

fn read(given: Value) -> Outcome<Args> {
    read_with(given, Unknown::Refused).map(|(args, _)| args)
}

fn read_with(given: Value, unknown: Unknown) -> Outcome<(Args, Vec<String>)> {
    let Value::Object(given) = given else { panic!("an object") };
    super::read("tool", &schema::arguments::<Args>(), given, unknown)
}

#[test]
fn what_fits_is_read_and_null_is_left_out() {
    let args = read(json!({"worker_id": "x", "count": 3, "until": "any", "tags": null})).unwrap();
    assert_eq!(
        (args.worker_id.as_str(), args.count, args.until, args.tags),
        ("x", Some(3), Some(Until::Any), None)
    );
    let args = read(json!({"worker_id": "x", "parts": [{"name": "a", "depends_on": null}]})).unwrap();
    let part = &args.parts.unwrap()[0];
    assert_eq!(read(json!({"worker_id": "x", "most": 500})).unwrap().most, Some(500));
    assert_eq!((part.name.as_str(), &part.depends_on), ("a", &None));
}

#[test]
fn what_does_not_fit_is_named() {
    for (given, message, hint) in [
        (json!({}), "`worker_id` is missing", "`worker_id`: Who it is"),
        (json!({"workerid": "x"}), "no argument \"workerid\"", "did you mean `worker_id`?"),
        (json!({"worker_id": 7}), "`worker_id` must be a string, not 7", ""),
        (
            json!({"worker_id": "x", "count": "three"}),
            "`count` must be an integer, not \"three\"",
            "without quotes",
        ),
        (json!({"worker_id": "x", "count": 1.5}), "`count` must be an integer, not 1.5", ""),
        (json!({"worker_id": "x", "count": -1}), "`count` is -1: it must be at least 0", ""),
        (json!({"worker_id": "x", "most": 501}), "`most` is 501: it must be at least 0 and at most 500", ""),
        (json!({"worker_id": "x", "most": u64::MAX}), "`most` is 18446744073709551615: it must be", ""),
        (json!({"worker_id": "x", "until": "ANY"}), "`until` cannot be \"ANY\"", "did you mean `any`?"),
        (json!({"worker_id": "x", "tags": "a"}), "`tags` must be an array, not \"a\"", "write `[\"a\"]`"),
        (json!({"worker_id": "x", "tags": ["a", 1]}), "`tags[1]` must be a string", ""),
        (json!({"worker_id": "x", "parts": [1]}), "`parts[0]` must be an object, not 1", ""),
        (json!({"worker_id": "x", "parts": [{"name": null}]}), "`parts[0].name` is missing", ""),
        (
            json!({"worker_id": "x", "parts": [{"name": "a", "dependsOn": [0]}]}),
            "`parts[0]` has no field \"dependsOn\"",
            "did you mean `depends_on`?",
        ),
        (
            json!({"worker_id": "x", "parts": [{"name": "a", "depends_on": [-1]}]}),
            "`parts[0].depends_on[0]` is -1",
            "",
        ),
    ] {
        let problem = read(given.clone()).unwrap_err();
        assert_eq!(problem.code, Code::InvalidValue);
        assert!(problem.to_string().contains(message), "{given}: {problem}");
        let hints = problem.hints.join("\n");
        assert!(hints.contains(hint), "{given}: {hints}");
    }
}

#[test]
fn quoted_values_are_read() {
    let given = json!({"worker_id": "x", "count": "3", "most": 5.0, "tags": "[\"a\"]", "parts": "[{\"name\": \"b\"}]"});
    let args = read(given).unwrap();
    assert_eq!((args.count, args.most, args.tags), (Some(3), Some(5), Some(vec!["a".to_owned()])));
    assert_eq!(args.parts.unwrap()[0].name, "b");
    for (text, meant) in [("true", Some(true)), ("Off", Some(false)), ("maybe", None)] {
        assert_eq!(unquoted(Some("boolean"), &json!(text)), meant.map(Value::from), "{text}");
    }
    assert_eq!(unquoted(Some("string"), &json!(3)), None);
}

#[test]
fn unknown_arguments_are_left_out_unless_they_were_meant_to_do_something() {
    let (args, notes) = read_with(
        json!({"worker_id": "x", "colour": "red", "parts": [{"name": "a", "mood": 1}]}),
        Unknown::LeftOut,
    )
    .unwrap();
    assert_eq!(args.worker_id, "x");
    assert_eq!(
        notes,
        [
            "`colour` was ignored: tool has no such argument",
            "`parts[0].mood` was ignored: tool has no such argument"
        ]
    );
    for given in [
        json!({"worker_id": "x", "tag": []}),
        json!({"worker_id": "x", "parts": [{"name": "a", "dependsOn": [0]}]}),
        json!({"worker_id": "x", "parts": [{"name": "a", "checks": ["make"]}]}),
    ] {
        assert!(read_with(given.clone(), Unknown::LeftOut).is_err(), "{given}");
    }
}

#[test]
fn schemas_are_plain() {
    let schema = Value::Object(schema::arguments::<Args>());
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["required"], json!(["worker_id"]));
    assert_eq!(schema["properties"]["worker_id"], json!({"type": "string", "description": "Who it is"}));
    assert_eq!(schema["properties"]["count"], json!({"type": "integer", "minimum": 0}));
    assert_eq!(schema["properties"]["until"], json!({"type": "string", "enum": ["any", "all"]}));
    assert_eq!(schema["properties"]["tags"], json!({"type": "array", "items": {"type": "string"}}));
}
