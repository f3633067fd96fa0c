//! Tool calls for people: what a tool is used on, and which files it touches.

use fleet_core::event::AgentEvent;
use fleet_core::text::shortened;
use serde_json::Value;

use super::words::one_line;

/// Keys of what a tool searches for; where it searches is among the files anyway.
const SEARCH_KEYS: &[&str] = &["pattern", "query"];

/// Keys of the file in the input of a tool, best first.
const FILE_KEYS: &[&str] =
    &["filePath", "file_path", "filepath", "path", "absolute_path", "notebook_path", "fileName", "file_name"];

/// Keys that summarise the input of a tool without a file, best first.
const SUMMARY_KEYS: &[&str] = &["command", "cmd", "url", "description", "prompt", "title", "text"];

/// Keys of a patch, which names its files itself.
const PATCH_KEYS: &[&str] = &["patchText", "patch", "input"];

/// What precedes a file in the text of a patch.
const PATCH_MARKS: &[&str] =
    &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];

/// Names of tools that change files, in lower case, and the protocol's names for such kinds.
const EDITING: &[&str] = &[
    "apply_patch",
    "create_file",
    "delete",
    "edit",
    "edit_file",
    "file_change",
    "move",
    "multiedit",
    "notebookedit",
    "patch",
    "replace",
    "write",
    "write_file",
];

/// More files than this in one call are not listed.
pub(crate) const MAX_FILES: usize = 50;

/// No system has longer paths.
pub(crate) const LONGEST_FILE: usize = 4096;

/// Whether a tool of an agent's own changes the files that its calls name.
pub fn is_editing(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    EDITING.contains(&name.as_str())
}

pub(crate) fn summary(input: &Value) -> String {
    match most_informative(input) {
        Some(most_informative) => one_line(&most_informative),
        None => match input {
            Value::Null => String::new(),
            Value::String(text) => one_line(text),
            Value::Object(fields) if fields.is_empty() => String::new(),
            other => one_line(&other.to_string()),
        },
    }
}

/// The value that summarises an input best.
fn most_informative(input: &Value) -> Option<String> {
    let keys = SEARCH_KEYS.iter().chain(FILE_KEYS).chain(SUMMARY_KEYS);
    keys.into_iter().find_map(|key| text_of_value(input.get(key)?))
}

/// A text, or a command that comes as a list of words.
fn text_of_value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(parts) if !parts.is_empty() => {
            let words: Vec<&str> = parts.iter().map_while(Value::as_str).collect();
            (words.len() == parts.len()).then(|| words.join(" "))
        }
        _ => None,
    }
}

/// The files that the input of a tool names, each once, as it names them.
pub(crate) fn files(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let edits = input.get("edits").and_then(Value::as_array).into_iter().flatten();
    for part in [input].into_iter().chain(edits) {
        for key in FILE_KEYS {
            note(&mut found, part.get(key).and_then(Value::as_str).unwrap_or_default());
        }
    }
    for patch in PATCH_KEYS.iter().filter_map(|key| input.get(key)?.as_str()) {
        for file in patched(patch) {
            note(&mut found, file);
        }
    }
    found
}

/// These files, each once.
pub(crate) fn listed<'f>(files: impl IntoIterator<Item = &'f str>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        note(&mut found, file);
    }
    found
}

/// The directory that an agent says it works in.
pub(crate) fn working_directory(directory: &str) -> AgentEvent {
    AgentEvent::WorksIn { directory: shortened(directory, LONGEST_FILE).into_owned() }
}

pub(crate) fn note(found: &mut Vec<String>, file: &str) {
    let file = shortened(file.trim(), LONGEST_FILE);
    if !file.is_empty() && found.len() < MAX_FILES && !found.iter().any(|known| *known == file) {
        found.push(file.into_owned());
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
            (json!({ "command": "view", "path": "a b.rs" }), "a b.rs"),
            (json!({ "pattern": "TODO", "path": "src" }), "TODO"),
            (
                json!({ "description": "d", "command": "cargo  test\n--all", "timeout": 5 }),
                "cargo test --all",
            ),
            (json!({ "command": ["bash", "-lc", "ls"] }), "bash -lc ls"),
            (json!({ "odd": [1, 2] }), r#"{"odd":[1,2]}"#),
            (json!({ "path": "", "url": "x" }), "x"),
            (json!({}), ""),
            (json!(null), ""),
            (json!("text"), "text"),
        ] {
            assert_eq!(summary(&input), expected, "{input}");
        }
    }

    #[test]
    fn files_are_found_wherever_agents_put_them() {
        assert_eq!(files(&json!({ "filePath": "a", "file_path": "a", "path": "b" })), ["a", "b"]);
        let patch = "*** Begin Patch\n*** Update File: src/x.rs\n@@\n-*** Add File: no\n*** Add File: y\n";
        assert_eq!(files(&json!({ "patchText": patch })), ["src/x.rs", "y"]);
        assert_eq!(files(&json!({ "edits": [{ "file_path": "e" }, 3, { "path": "f" }] })), ["e", "f"]);
        assert!(files(&json!({ "command": "rm x", "path": 3 })).is_empty());
        assert!(files(&json!(["file_path"])).is_empty());
        let many: Vec<_> = (0..1000).map(|n| json!({ "path": n.to_string() })).collect();
        assert_eq!(files(&json!({ "edits": many })).len(), MAX_FILES);
    }
}
