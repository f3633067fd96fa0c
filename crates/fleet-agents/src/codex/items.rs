//! The items of a Codex turn: what it says, thinks and does.

use fleet_core::event::AgentEvent;
use serde_json::Value;

use crate::common::json::{list, text};
use crate::common::tool;
use crate::common::words::{self, one_line};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemStage {
    Started,
    Updated,
    Completed,
}

/// A tool item in the words that all agents share.
pub(super) struct ToolItem {
    pub(super) id: String,
    name: String,
    input: String,
    files: Vec<String>,
    ok: bool,
    result: String,
    /// What Codex reports when it was denied.
    denied: Option<String>,
}

impl ToolItem {
    pub(super) fn read(item: &Value) -> Option<Self> {
        let mut tool = match text(item, "type")? {
            "command_execution" => command(item),
            "file_change" => file_change(item),
            "mcp_tool_call" => mcp(item),
            "web_search" => plain("web_search", text(item, "query").unwrap_or_default()),
            "collab_tool_call" => {
                plain(text(item, "tool").unwrap_or_default(), text(item, "prompt").unwrap_or_default())
            }
            "todo_list" => todo(item),
            _ => return None,
        };
        tool.id = words::id(text(item, "id").unwrap_or_default());
        tool.ok = !matches!(text(item, "status"), Some("failed" | "declined"));
        if text(item, "status") == Some("declined") {
            tool.denied = Some(tool.input.clone());
        }
        Some(tool)
    }

    pub(super) fn call(&self) -> AgentEvent {
        AgentEvent::ToolCall {
            id: self.id.clone(),
            name: self.name.clone(),
            summary: self.input.clone(),
            files: self.files.clone(),
        }
    }

    /// Its result, marked if it was refused.
    pub(super) fn end(self) -> impl Iterator<Item = AgentEvent> {
        let denied = self.denied.map(|text| AgentEvent::Denied { tool: self.name, text });
        let result =
            AgentEvent::ToolResult { id: self.id, ok: self.ok, summary: self.result, files: self.files };
        denied.into_iter().chain([result])
    }
}

fn plain(name: &str, input: &str) -> ToolItem {
    ToolItem {
        id: String::new(),
        name: one_line(name),
        input: one_line(input),
        files: Vec::new(),
        ok: true,
        result: String::new(),
        denied: None,
    }
}

fn command(item: &Value) -> ToolItem {
    let output = text(item, "aggregated_output").unwrap_or_default();
    let result = match item.get("exit_code").and_then(Value::as_i64) {
        Some(code) if code != 0 => format!("exit status {code}\n{output}"),
        _ => output.to_owned(),
    };
    ToolItem {
        result: words::result(&result),
        ..plain("shell", &unwrapped(text(item, "command").unwrap_or_default()))
    }
}

fn file_change(item: &Value) -> ToolItem {
    let changes = list(item, "changes").iter().take(tool::MAX_FILES);
    let named = || changes.clone().filter_map(|change| Some((text(change, "path")?, change)));
    let input: Vec<String> = named()
        .map(|(path, change)| format!("{} {path}", text(change, "kind").unwrap_or("change")))
        .collect();
    let files = tool::listed(named().map(|(path, _)| path));
    ToolItem { files, ..plain("file_change", &input.join(", ")) }
}

fn mcp(item: &Value) -> ToolItem {
    let name =
        format!("{}.{}", text(item, "server").unwrap_or_default(), text(item, "tool").unwrap_or_default());
    let arguments = &item["arguments"];
    let error = text(&item["error"], "message");
    let answer = || {
        let parts = list(&item["result"], "content").iter();
        parts.filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
    };
    ToolItem {
        files: tool::files(arguments),
        result: words::result(&error.map_or_else(answer, str::to_owned)),
        denied: error.filter(|error| error.contains("requires approval")).map(words::trouble),
        input: tool::summary(arguments),
        ..plain(&name, "")
    }
}

/// The agent's plan: how far it is, and what is next.
fn todo(item: &Value) -> ToolItem {
    let is_done = |step: &&Value| step.get("completed").and_then(Value::as_bool) == Some(true);
    let done = list(item, "items").iter().filter(is_done).count();
    let all = list(item, "items").len();
    let next = list(item, "items")
        .iter()
        .find(|step| !is_done(step))
        .map_or("", |step| text(step, "text").unwrap_or_default());
    plain("todo_list", &format!("{done} of {all} done, next: {next}"))
}

/// A command without the shell that Codex puts around each: `/bin/bash -lc 'git status'`.
fn unwrapped(command: &str) -> String {
    let inner = ["-lc ", "-c "].iter().find_map(|flag| {
        let (shell, inner) = command.split_once(flag)?;
        shell.trim_end().ends_with("sh").then_some(inner)
    });
    let Some(inner) = inner else { return command.to_owned() };
    let quoted = |quote| inner.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    if let Some(text) = quoted('\'').filter(|text| !text.contains('\'')) {
        return text.to_owned();
    }
    quoted('"').map_or_else(|| inner.to_owned(), unescaped)
}

/// What a shell makes of text in double quotes, as far as quoting alone puts backslashes there.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escapes = character == '\\' && matches!(characters.peek(), Some('\\' | '"' | '$' | '`'));
        out.push(if escapes { characters.next().unwrap_or(character) } else { character });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unwrapped;

    #[test]
    fn commands_are_shown_as_the_agent_wrote_them() {
        for (command, shown) in [
            ("/bin/bash -lc 'tail -f /dev/null'", "tail -f /dev/null"),
            (r#"/bin/bash -lc "printf 'a\\\\n' > \"b\"""#, r#"printf 'a\\n' > "b""#),
            ("/bin/zsh -c ls", "ls"),
            ("/bin/bash -lc 'it'\\''s'", "'it'\\''s'"),
            ("python -c 'x'", "python -c 'x'"),
            ("bash -lc \"open", "\"open"),
            ("bash -lc \"", "\""),
            ("", ""),
        ] {
            assert_eq!(unwrapped(command), shown, "{command}");
        }
    }
}
