//! JSON of any shape: what is asked for, or nothing.

use fleet_core::text::shortened;
use serde_json::{Map, Value};

/// The longest one-line summary of what a tool is used on, or of what came of it.
const LONGEST_SUMMARY: usize = 400;

/// Keys under which tools name the files that they work on.
const FILE_KEYS: &[&str] = &["file_path", "filePath", "notebook_path", "absolute_path", "path"];

/// Keys that say best what a tool is used on, the best first.
const TELLING_KEYS: &[&str] =
    &["command", "cmd", "file_path", "notebook_path", "absolute_path", "path", "pattern", "query", "url"];

/// The line as a JSON object; anything else is not what an agent's event looks like.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok().filter(Value::is_object)
}

/// The text at this key, unless it is empty.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// The list at this key; nothing if there is none.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The number at this key. Agents write whole numbers as fractions at times, and never mean less than nothing.
pub(crate) fn number(value: &Value, key: &str) -> Option<u64> {
    let number = value.get(key)?;
    number.as_u64().or_else(|| number.as_f64().and_then(whole))
}

/// An amount of US dollars at this key, in millionths.
pub(crate) fn micro_usd(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_f64().and_then(|dollars| whole(dollars * 1e6))
}

/// Far beyond all counters, and exact as a fraction.
const MOST: f64 = 9_007_199_254_740_992.0;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was just checked")]
fn whole(number: f64) -> Option<u64> {
    let rounded = number.round();
    (0.0..MOST).contains(&rounded).then_some(rounded as u64)
}

/// The files that the input of a tool names, as it names them.
pub(crate) fn files(input: &Value) -> Vec<String> {
    FILE_KEYS.iter().find_map(|key| text(input, key)).map(one_line).into_iter().collect()
}

/// What a tool is used on, in one line.
pub(crate) fn summary(input: &Value) -> String {
    match TELLING_KEYS.iter().find_map(|key| text(input, key)) {
        Some(telling) => one_line(telling),
        None if input.is_null() || input.as_object().is_some_and(Map::is_empty) => String::new(),
        None => one_line(&input.to_string()),
    }
}

/// A text in one line, shortened.
pub(crate) fn one_line(text: &str) -> String {
    // Cut first: what is thrown away need not be looked at.
    let near = &text[..text.floor_char_boundary(4 * LONGEST_SUMMARY)];
    let words = near.split_whitespace().collect::<Vec<_>>().join(" ");
    let more = near.len() < text.len() && words.len() <= LONGEST_SUMMARY;
    shortened(&if more { format!("{words}…") } else { words }, LONGEST_SUMMARY).into_owned()
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
    fn numbers_of_all_shapes() {
        let value = json!({"a": 3, "b": 2.6, "c": -1, "d": "7", "e": 1e300, "f": null, "usd": 0.018_341_2});
        let read = ["a", "b", "c", "d", "e", "f", "g"].map(|key| number(&value, key));
        assert_eq!(read, [Some(3), Some(3), None, None, None, None, None]);
        assert_eq!((micro_usd(&value, "usd"), micro_usd(&value, "d")), (Some(18_341), None));
    }

    #[test]
    fn inputs_of_tools_in_one_line() {
        assert_eq!(summary(&json!({"description": "d", "command": "ls\n  -l"})), "ls -l");
        assert_eq!(summary(&json!({"content": "x", "file_path": "a b.rs"})), "a b.rs");
        assert_eq!(summary(&json!({"odd": [1]})), r#"{"odd":[1]}"#);
        assert_eq!((summary(&json!({})), summary(&Value::Null)), (String::new(), String::new()));
        assert_eq!(files(&json!({"file_path": "a", "path": "b"})), ["a"]);
        assert_eq!(files(&json!({"command": "rm a"})), Vec::<String>::new());
        assert_eq!(files(&json!(["file_path"])), Vec::<String>::new());
    }

    #[test]
    fn long_texts_become_short_lines() {
        let long = one_line(&"word\n".repeat(100_000));
        assert!(long.len() <= LONGEST_SUMMARY && long.ends_with('…') && long.starts_with("word word"));
        let gap = one_line(&format!("a{}b", " ".repeat(10_000)));
        assert_eq!(gap, "a…");
        assert!(one_line(&"漢".repeat(1_000)).len() <= LONGEST_SUMMARY);
    }
}
