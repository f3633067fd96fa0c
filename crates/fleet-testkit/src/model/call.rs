//! Calls of the agents' own tools: each agent has a way to write a file and to run a command, under its own name.
//!
//! Which agent asks is not known and not needed: the tools that a request offers say it.

use serde_json::{Value, json};

use super::talk::{Talk, Tool};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) input: Input,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    Arguments(Value),
    FreeText(String),
}

impl Call {
    fn new(tool: &Tool, arguments: Value) -> Self {
        let input = Input::Arguments(arguments);
        Self { name: tool.name.clone(), namespace: tool.namespace.clone(), input }
    }

    /// The arguments; of a tool that takes free text, the text.
    pub(super) fn arguments(&self) -> Value {
        match &self.input {
            Input::Arguments(arguments) => arguments.clone(),
            Input::FreeText(text) => Value::String(text.clone()),
        }
    }
}

/// Longer than any test waits, because a tool's own time limit must not end it.
const TOOL_MILLIS: u32 = 400_000;
/// What codex accepts at most.
const YIELD_MILLIS: u32 = 250_000;

/// Writes a file with the agent's tool for that, or else in its shell.
pub(super) fn write(talk: &Talk, path: &str, content: &str) -> Option<Call> {
    let named = |name: &str, key: &str| {
        talk.tool(name).map(|tool| Call::new(tool, json!({key: path, "content": content})))
    };
    named("Write", "file_path")
        .or_else(|| named("write_file", "file_path"))
        .or_else(|| named("write", "filePath"))
        .or_else(|| shell(talk, &write_command(path, content)))
}

/// Writes a file in a way for which a person can be asked: codex asks about commands that the model wants to run outside of
/// the sandbox.
pub(super) fn write_with_permission(talk: &Talk, path: &str, content: &str) -> Option<Call> {
    let Some(tool) = talk.tool("exec_command") else { return write(talk, path, content) };
    let arguments = json!({
        "cmd": write_command(path, content), "yield_time_ms": YIELD_MILLIS,
        "sandbox_permissions": "require_escalated", "justification": "May I write the file?",
    });
    Some(Call::new(tool, arguments))
}

/// The command that writes a file.
pub(super) fn write_command(path: &str, content: &str) -> String {
    format!("printf '%s\\n' {} > {}", quoted(content.trim_end()), quoted(path))
}

/// The same after long work without a word.
pub(super) fn busy_command(path: &str, content: &str) -> String {
    let work = "end=$(($(date +%s) + 8)); while [ $(date +%s) -lt $end ]; do :; done";
    format!("{work}; {}", write_command(path, content))
}

/// The command that tells codefleet something, and writes down what codefleet says to that.
pub(super) fn fleet_command(path: &str) -> String {
    format!("\"$FLEET_BIN\" note 'from the model' > {} 2>&1; true", quoted(path))
}

/// One step of a work without an end, which takes a second and is not the same as the one before.
pub(super) fn step_command(path: &str, number: usize) -> String {
    format!("sleep 1; {}", write_command(path, &number.to_string()))
}

/// The command that never ends; its process number is in the file, if there is one.
///
/// `$!` and not `$$`, which is somebody else in the subshells of agents. And no `sh -c` whose `$0` is the file: gemini
/// takes such a wrapper away, and `$0` is then the shell's own program.
pub(super) fn sleep_command(path: Option<&str>, sleep: &str) -> String {
    path.map_or_else(|| sleep.to_owned(), |path| format!("{sleep} & echo $! > {}; wait", quoted(path)))
}

/// Runs a command in the agent's shell.
pub(super) fn shell(talk: &Talk, command: &str) -> Option<Call> {
    let plain = json!({"command": command, "description": "a scripted command"});
    let timed = json!({"command": command, "description": "a scripted command", "timeout": TOOL_MILLIS});
    let list = json!({"command": ["bash", "-lc", command], "timeout_ms": TOOL_MILLIS});
    let offered = [
        ("exec_command", json!({"cmd": command, "yield_time_ms": YIELD_MILLIS})),
        ("Bash", timed.clone()),
        ("bash", timed),
        ("run_shell_command", plain.clone()),
        ("shell_command", plain),
        ("shell", list),
    ];
    let known =
        offered.into_iter().find_map(|(name, arguments)| Some(Call::new(talk.tool(name)?, arguments)));
    known.or_else(|| program(talk, command))
}

/// Codex with its own models runs commands from a program that the model writes.
fn program(talk: &Talk, command: &str) -> Option<Call> {
    let tool = talk.tool("exec").filter(|tool| tool.free_text)?;
    let command = Value::from(command);
    let input = format!(
        "const result = await tools.exec_command({{cmd: {command}, yield_time_ms: {YIELD_MILLIS}}});\n\
         text(JSON.stringify(result));"
    );
    let (name, namespace) = (tool.name.clone(), tool.namespace.clone());
    Some(Call { name, namespace, input: Input::FreeText(input) })
}

/// The tool of our MCP server, which every agent decorates differently.
pub(super) const MCP_TOOL: &str = "fake_echo";

/// Calls the tool of our MCP server, once for each prompt. Claude may hide it behind a search, which then has to come
/// first.
pub(super) fn mcp(talk: &Talk) -> Option<Call> {
    let called = talk.called();
    if called.iter().any(|name| name.contains(MCP_TOOL)) {
        return None;
    }
    let arguments = json!({"text": "ping"});
    if let Some(tool) = talk.tools.iter().find(|tool| tool.name.contains(MCP_TOOL)) {
        return Some(Call::new(tool, arguments));
    }
    let search = talk.tool("ToolSearch").filter(|search| !called.contains(&search.name.as_str()))?;
    let query = json!({"query": format!("select:{}", hidden(talk)?), "max_results": 5});
    Some(Call::new(search, query))
}

/// The full name of the tool, from the list of hidden ones that the model is told.
fn hidden(talk: &Talk) -> Option<String> {
    let said = talk.prompts().into_iter().chain([talk.system.as_str()]);
    said.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')))
        .find(|word| word.contains(MCP_TOOL))
        .map(str::to_owned)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::super::talk::Turn;
    use super::*;

    fn offering(names: &[&str]) -> Talk {
        let tool = |name: &&str| Tool { name: (*name).to_owned(), ..Tool::default() };
        Talk { tools: names.iter().map(tool).collect(), ..Talk::default() }
    }

    #[test]
    fn every_agent_is_served_with_its_own_tool() {
        for (tools, name, key) in [
            (&["Bash", "Write"][..], "Write", "file_path"),
            (&["run_shell_command", "write_file"], "write_file", "file_path"),
            (&["bash", "write"], "write", "filePath"),
            (&["exec_command"], "exec_command", "cmd"),
            (&["shell_command"], "shell_command", "command"),
        ] {
            let call = write(&offering(tools), "a b.txt", "it's\n").unwrap();
            assert_eq!(call.name, name);
            assert!(call.arguments()[key].as_str().unwrap().contains("a b.txt"), "{call:?}");
        }
        assert_eq!(write(&offering(&["Read"]), "a", "b"), None);
    }

    #[test]
    fn every_agent_can_be_made_to_ask() {
        let call = |tools| write_with_permission(&offering(tools), "a.txt", "b").unwrap();
        assert_eq!(call(&["exec_command"]).arguments()["sandbox_permissions"], "require_escalated");
        assert_eq!(call(&["Bash", "Write"]).name, "Write");
    }

    #[test]
    fn commands_survive_the_shell() {
        assert_eq!(write_command("a b", "it's\n"), r"printf '%s\n' 'it'\''s' > 'a b'");
    }

    fn calling(talk: &mut Talk, name: &str) {
        talk.push_model("", vec![name.to_owned()]);
        talk.turns.push(Turn::Tool("done".to_owned()));
    }

    #[test]
    fn a_hidden_tool_is_looked_up_first() {
        let mut talk = offering(&["ToolSearch"]);
        assert_eq!(mcp(&talk), None, "nobody said that there is one");
        talk.turns.push(Turn::User("tools:\nmcp__mine__fake_echo\n".to_owned()));
        assert_eq!(mcp(&talk).unwrap().arguments()["query"], "select:mcp__mine__fake_echo");
        calling(&mut talk, "ToolSearch");
        assert_eq!(mcp(&talk), None, "it was looked for in vain");
        talk.tools = offering(&["ToolSearch", "mcp__mine__fake_echo"]).tools;
        assert_eq!(mcp(&talk).unwrap().name, "mcp__mine__fake_echo");
        calling(&mut talk, "mcp__mine__fake_echo");
        assert_eq!(mcp(&talk), None);
    }

    #[test]
    fn an_offered_tool_is_called_once_for_each_prompt() {
        let mut talk = offering(&["Read", "mcp_mine_fake_echo"]);
        assert_eq!(mcp(&talk).unwrap().name, "mcp_mine_fake_echo");
        calling(&mut talk, "mcp_mine_fake_echo");
        assert_eq!(mcp(&talk), None);
        talk.push_model("Done.", Vec::new());
        talk.turns.push(Turn::User("again".to_owned()));
        assert!(mcp(&talk).is_some());
    }
}
