//! Tools as people want to read them: what one is used on, and which files that touches.

use fleet_core::text::shortened;
use serde_json::Value;

use super::LONGEST_SUMMARY;

/// What agents call the file in the input of a tool, most telling first.
const FILE_KEYS: &[&str] =
    &["filePath", "file_path", "filepath", "path", "absolute_path", "notebook_path", "fileName", "file_name"];

/// What is most telling in the input of a tool that is about no file.
const TELLING_KEYS: &[&str] =
    &["command", "cmd", "pattern", "query", "url", "description", "prompt", "title", "text"];

/// More files than this in one call are not listed.
const MOST_FILES: usize = 50;

/// In front of a file in the text of a patch.
const PATCH_MARKS: &[&str] =
    &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];

/// What a tool is used on, in one line.
pub(crate) fn summary(input: &Value) -> String {
    let telling = FILE_KEYS.iter().chain(TELLING_KEYS).find_map(|key| words(input.get(key)?));
    let line = telling.unwrap_or_else(|| match input {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        other => other.to_string(),
    });
    one_line(&line)
}

/// A text as one line that is not too long.
pub(crate) fn one_line(text: &str) -> String {
    let text = shortened(text.trim(), LONGEST_SUMMARY);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text, or a command that comes as a list of words.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(parts) if !parts.is_empty() => {
            let words: Vec<&str> = parts.iter().map_while(Value::as_str).collect();
            (words.len() == parts.len()).then(|| words.join(" "))
        }
        _ => None,
    }
}

/// The files that the input of a tool names, each once.
pub(crate) fn files(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for key in FILE_KEYS {
        note(&mut found, input.get(key).and_then(Value::as_str));
    }
    for entry in input.get("edits").and_then(Value::as_array).into_iter().flatten() {
        for key in FILE_KEYS {
            note(&mut found, entry.get(key).and_then(Value::as_str));
        }
    }
    for key in ["patchText", "patch", "input"] {
        for file in input.get(key).and_then(Value::as_str).into_iter().flat_map(patched) {
            note(&mut found, Some(file));
        }
    }
    found
}

/// Adds a file that is not in the list yet.
pub(crate) fn note(found: &mut Vec<String>, file: Option<&str>) {
    let Some(file) = file.map(str::trim).filter(|file| !file.is_empty()) else { return };
    if found.len() < MOST_FILES && !found.iter().any(|known| known == file) {
        found.push(shortened(file, 4096).into_owned());
    }
}

fn patched(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().filter_map(|line| PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_most_telling_part_is_the_summary() {
        for (input, expected) in [
            (json!({ "content": "x", "filePath": "/a/b.txt" }), "/a/b.txt"),
            (json!({ "command": "cargo  test\n--all", "timeout": 5 }), "cargo test --all"),
            (json!({ "command": ["bash", "-lc", "ls"] }), "bash -lc ls"),
            (json!({ "odd": [1, 2] }), r#"{"odd":[1,2]}"#),
            (json!({ "path": "", "pattern": "*.rs" }), "*.rs"),
            (json!({}), ""),
            (json!(null), ""),
            (json!("text"), "text"),
        ] {
            assert_eq!(summary(&input), expected, "{input}");
        }
        assert!(summary(&json!({ "command": "x".repeat(10_000) })).len() <= LONGEST_SUMMARY);
    }

    #[test]
    fn files_are_found_wherever_agents_put_them() {
        assert_eq!(files(&json!({ "filePath": "a", "file_path": "a", "path": "b" })), ["a", "b"]);
        let patch = "*** Begin Patch\n*** Update File: src/x.rs\n@@\n-*** Add File: no\n*** Add File: y\n";
        assert_eq!(files(&json!({ "patchText": patch })), ["src/x.rs", "y"]);
        assert_eq!(files(&json!({ "edits": [{ "file_path": "e" }, 3, { "path": "f" }] })), ["e", "f"]);
        assert!(files(&json!({ "command": "rm x", "path": 3 })).is_empty());
        let many: Vec<_> = (0..1000).map(|n| json!({ "path": n.to_string() })).collect();
        assert_eq!(files(&json!({ "edits": many })).len(), MOST_FILES);
    }
}
