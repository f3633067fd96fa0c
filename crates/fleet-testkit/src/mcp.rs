//! An MCP server that tells a test whether it was reached.
//!
//! A script for the shell and not a program of ours, because whoever runs the tests of another crate has not built
//! the programs of this one.

use std::fs;
use std::path::{Path, PathBuf};

/// A server with the one tool `fake_echo`, which the scripted model calls in its scenario `mcp`.
#[derive(Debug, Clone)]
pub struct McpServer {
    pub command: String,
    pub args: Vec<String>,
    calls: PathBuf,
}

impl McpServer {
    /// Puts the server into a directory; the agent starts it.
    pub fn install(directory: &Path) -> Self {
        let script = directory.join("mcp.sh");
        fs::write(&script, include_str!("mcp.sh")).expect("the server can be written");
        let calls = directory.join("mcp-calls");
        let text = |path: &Path| path.to_str().expect("a directory whose name is text").to_owned();
        Self { command: "/bin/sh".to_owned(), args: vec![text(&script), text(&calls)], calls }
    }

    /// The calls of the tool so far, as they came.
    pub fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.calls).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn speaks_the_protocol_and_keeps_calls() {
        let dir = tempfile::tempdir().unwrap();
        let server = McpServer::install(dir.path());
        let mut child = Command::new(&server.command)
            .args(&server.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut ask = |message: Value| {
            writeln!(to, "{message}").unwrap();
            let mut line = String::new();
            from.read_line(&mut line).unwrap();
            serde_json::from_str::<Value>(&line).unwrap()
        };
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}});
        assert_eq!(ask(hello)["result"]["protocolVersion"], "2025-06-18");
        let tools = ask(json!({"method": "tools/list", "jsonrpc": "2.0", "id": "a"}));
        assert_eq!((&tools["id"], &tools["result"]["tools"][0]["name"]), (&json!("a"), &json!("fake_echo")));
        assert_eq!(server.calls(), [""; 0]);
        let call = json!({"id": 7, "method": "tools/call", "params": {"name": "fake_echo", "arguments": {"text": "hi"}}});
        let answer = ask(call);
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)));
        assert!(server.calls()[0].contains("fake_echo"));
        assert_eq!(ask(json!({"id": 8, "method": "resources/list"}))["error"]["code"], -32601);
        drop(to);
        assert!(child.wait().unwrap().success(), "the end of the input ends it");
    }
}
