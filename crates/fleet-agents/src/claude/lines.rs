//! What single blocks of a message mean.

use fleet_core::event::AgentEvent;
use serde_json::Value;

use crate::common::json::{list, text};
use crate::common::tool;
use crate::common::words::{self, one_line};

/// The event of one content block.
pub(super) fn said(block: &Value) -> Option<AgentEvent> {
    match text(block, "type")? {
        "text" => Some(AgentEvent::Text { text: words::said(text(block, "text")?) }),
        "thinking" => Some(AgentEvent::Reasoning { text: words::said(text(block, "thinking")?) }),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let input = &block["input"];
            Some(AgentEvent::ToolCall {
                id: short(block, "id"),
                name: short(block, "name"),
                summary: tool::summary(input),
                files: tool::files(input),
            })
        }
        kind if kind.ends_with("tool_result") => Some(result_event(block, &Value::Null)),
        _ => None,
    }
}

/// The result of a tool; `details` is what the line says beside it.
pub(super) fn result_event(block: &Value, details: &Value) -> AgentEvent {
    AgentEvent::ToolResult {
        id: short(block, "tool_use_id"),
        ok: block["is_error"] != true,
        summary: words::result(&words(&block["content"])),
        files: tool::files(details),
    }
}

/// The text of something that is one, or a list of blocks.
pub(super) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => words::said(text),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| text(block, "text"));
            words::said(&texts.take(MAX_BLOCKS).collect::<Vec<_>>().join("\n"))
        }
        _ => String::new(),
    }
}

/// No message has more.
pub(super) const MAX_BLOCKS: usize = 64;

/// The blocks of a message, which may also be a plain text.
pub(super) fn blocks(line: &Value) -> &[Value] {
    let blocks = list(&line["message"], "content");
    &blocks[..blocks.len().min(MAX_BLOCKS)]
}

pub(super) fn short(value: &Value, key: &str) -> String {
    text(value, key).map(one_line).unwrap_or_default()
}
