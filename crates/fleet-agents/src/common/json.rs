//! JSON of any shape: what is asked for, or nothing. Every question is about one key; deeper ones go by index
//! (`&line["part"]["state"]`), which is null where there is nothing.

use serde_json::Value;

use super::amount::whole;

/// The line as a JSON object; anything else is not what an agent's event looks like.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok().filter(Value::is_object)
}

/// The text at this key, unless it is empty.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// The list at this key, or an empty one.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The number at this key, as [`whole`] reads it.
pub(crate) fn number(value: &Value, key: &str) -> Option<u64> {
    let number = value.get(key)?;
    number.as_u64().or_else(|| number.as_f64().and_then(whole))
}

/// What is counted at this key, which is nothing if it is not there.
pub(crate) fn count(value: &Value, key: &str) -> u64 {
    number(value, key).unwrap_or(0)
}

pub(crate) fn fraction(value: &Value, key: &str) -> Option<f64> {
    value.get(key)?.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_objects_are_events() {
        assert!(object(br#"{"type":"x"}"#).is_some());
        for line in [&b""[..], b"[]", b"1", b"\"x\"", b"{", b"\xff{}"] {
            assert!(object(line).is_none(), "{line:?}");
        }
        let deep = "{\"a\":".repeat(100_000);
        assert!(object(deep.as_bytes()).is_none(), "nesting has a limit");
    }

    #[test]
    fn what_is_not_there_or_of_another_kind_is_nothing() {
        let value = json!({"a": 3, "b": 2.6, "c": -1, "d": "7", "e": 1e300, "f": null, "g": "", "h": [1]});
        let numbers = ["a", "b", "c", "d", "e", "f", "x"].map(|key| number(&value, key));
        assert_eq!(numbers, [Some(3), Some(3), None, None, None, None, None]);
        assert_eq!((count(&value, "a"), count(&value, "x")), (3, 0));
        assert_eq!(["d", "g", "a", "x"].map(|key| text(&value, key)), [Some("7"), None, None, None]);
        assert_eq!((list(&value, "h").len(), list(&value, "a").len()), (1, 0));
        assert_eq!((fraction(&value, "b"), fraction(&value, "d")), (Some(2.6), None));
        assert_eq!(text(&value["x"]["y"], "z"), None);
    }
}
