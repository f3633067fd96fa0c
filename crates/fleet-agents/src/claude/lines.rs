//! What single blocks of a message mean.

use fleet_core::text::shortened;
use serde_json::Value;

use crate::common::json::{files, list, one_line, summary, text};
use crate::event::AgentEvent;

/// More than any report; what is longer is cut.
pub(super) const LONGEST_TEXT: usize = 256 * 1024;

/// One block of what the model said.
pub(super) fn said(block: &Value) -> Option<AgentEvent> {
    match text(block, "type")? {
        "text" => Some(AgentEvent::Text { text: whole(text(block, "text")?) }),
        "thinking" => Some(AgentEvent::Reasoning { text: whole(text(block, "thinking")?) }),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let input = &block["input"];
            Some(AgentEvent::ToolCall {
                id: short(block, "id"),
                name: short(block, "name"),
                input_summary: summary(input),
                files: files(input),
            })
        }
        kind if kind.ends_with("tool_result") => Some(came_of(block, &Value::Null)),
        _ => None,
    }
}

/// The result of a tool; `details` is what the line says beside it.
pub(super) fn came_of(block: &Value, details: &Value) -> AgentEvent {
    AgentEvent::ToolResult {
        id: short(block, "tool_use_id"),
        ok: block["is_error"] != true,
        summary: one_line(&words(&block["content"])),
        files: files(details),
    }
}

/// The text of something that is one, or a list of blocks.
pub(super) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => whole(text),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| text(block, "text"));
            whole(&texts.take(MOST_BLOCKS).collect::<Vec<_>>().join("\n"))
        }
        _ => String::new(),
    }
}

/// More than are read by anybody.
const MOST_BLOCKS: usize = 64;

/// The blocks of a message, which may also be a plain text.
pub(super) fn blocks(line: &Value) -> &[Value] {
    list(&line["message"], "content")
}

pub(super) fn short(value: &Value, key: &str) -> String {
    text(value, key).map(one_line).unwrap_or_default()
}

pub(super) fn whole(text: &str) -> String {
    shortened(text, LONGEST_TEXT).into_owned()
}

/// A line of standard error that says something.
pub(super) fn complaint(line: &[u8]) -> Option<String> {
    let near = &line[..line.len().min(LONGEST_COMPLAINT)];
    Some(one_line(&String::from_utf8_lossy(near))).filter(|words| !words.is_empty())
}

/// Sentences are shorter; dumps of data are not read.
const LONGEST_COMPLAINT: usize = 2 * 1024;
