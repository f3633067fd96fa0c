//! Tool calls that are under way. Agents report one in several messages, the first of which may be empty.

use agent_client_protocol_schema::v1::{
    ContentBlock, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use fleet_core::event::AgentEvent;
use serde_json::Value;

use crate::common::json::text;
use crate::common::recent::Recent;
use crate::common::tool;
use crate::common::words::{self, one_line};

/// More at a time are the oldest forgotten: an agent that never ends its calls must not fill the memory.
const MAX_CALLS: usize = 200;

#[derive(Debug, Default)]
pub(super) struct ToolCall {
    id: String,
    name: Option<String>,
    title: String,
    pub(super) kind: ToolKind,
    input: String,
    /// Input that does not say what it is about.
    vague: String,
    pub(super) files: Vec<String>,
    is_told: bool,
}

/// Tool calls that have not ended.
#[derive(Debug)]
pub(super) struct ToolCalls(Recent<ToolCall>);

impl Default for ToolCalls {
    fn default() -> Self {
        Self(Recent::new(MAX_CALLS))
    }
}

impl ToolCalls {
    pub(super) fn update(&mut self, update: &ToolCallUpdate) -> Vec<AgentEvent> {
        let call = self.call(update);
        let fields = &update.fields;
        let status = fields.status.unwrap_or_default();
        let is_over = matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed);
        let mut events = Vec::new();
        if is_over || status == ToolCallStatus::InProgress || call.says_something() {
            events.extend(call.event());
        }
        if is_over {
            events.push(call.result(fields, status == ToolCallStatus::Completed));
            self.0.remove(&update.tool_call_id.0);
        }
        events
    }

    /// The agent asks for permission for a call.
    pub(super) fn asked(&mut self, update: &ToolCallUpdate) -> (&ToolCall, Option<AgentEvent>) {
        let call = self.call(update);
        let told = call.event();
        (call, told)
    }

    fn call(&mut self, update: &ToolCallUpdate) -> &mut ToolCall {
        let id = &*update.tool_call_id.0;
        let call = self.0.entry(id, || ToolCall { id: words::id(id), ..ToolCall::default() });
        call.learn(update);
        call
    }
}

impl ToolCall {
    /// The agent's name for the tool, or else what kind of tool it is.
    pub(super) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| kind_name(self.kind))
    }

    fn learn(&mut self, update: &ToolCallUpdate) {
        let fields = &update.fields;
        self.kind = fields.kind.unwrap_or(self.kind);
        if let Some(title) = &fields.title {
            self.title = one_line(title);
        }
        // Qwen Code tells the name beside.
        let beside = || update.meta.as_ref()?.get("toolName")?.as_str();
        if let Some(name) = fields.name.as_deref().or_else(beside) {
            self.name = Some(one_line(name));
        }
        if let Some(input) = &fields.raw_input {
            let summary = tool::summary(input);
            let place = if summary.starts_with('{') { &mut self.vague } else { &mut self.input };
            *place = summary;
            for file in tool::files(input) {
                tool::note(&mut self.files, &file);
            }
        }
        // The place of a command is a directory.
        if self.kind != ToolKind::Execute {
            for file in files(fields) {
                tool::note(&mut self.files, &file);
            }
        }
    }

    fn says_something(&self) -> bool {
        !self.input.is_empty() || !self.files.is_empty()
    }

    fn event(&mut self) -> Option<AgentEvent> {
        if std::mem::replace(&mut self.is_told, true) {
            return None;
        }
        let is_telling = |text: &&String| !text.is_empty() && **text != self.name();
        let summary =
            [&self.input, &self.title, &self.vague].into_iter().find(is_telling).cloned().unwrap_or_default();
        Some(AgentEvent::ToolCall {
            id: self.id.clone(),
            name: self.name(),
            summary,
            files: self.files.clone(),
        })
    }

    fn result(&self, fields: &ToolCallUpdateFields, ok: bool) -> AgentEvent {
        let summary = output(fields).unwrap_or_default();
        AgentEvent::ToolResult { id: self.id.clone(), ok, summary, files: self.files.clone() }
    }
}

/// The word that the protocol has for a kind.
fn kind_name(kind: ToolKind) -> String {
    let word = serde_json::to_value(kind).ok();
    word.as_ref().and_then(Value::as_str).unwrap_or("tool").to_owned()
}

fn files(fields: &ToolCallUpdateFields) -> Vec<String> {
    let locations = fields.locations.iter().flatten().map(|location| &location.path);
    let diffs = fields.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    });
    locations.chain(diffs).map(|path| path.display().to_string()).collect()
}

fn output(fields: &ToolCallUpdateFields) -> Option<String> {
    let said = fields.content.iter().flatten().find_map(|content| match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => Some(words::result(&text.text)),
            _ => None,
        },
        _ => None,
    });
    said.or_else(|| {
        let raw = fields.raw_output.as_ref()?;
        let keys = ["output", "error", "formatted_output", "content"];
        keys.iter().find_map(|key| text(raw, key)).or_else(|| raw.as_str()).map(words::result)
    })
}
