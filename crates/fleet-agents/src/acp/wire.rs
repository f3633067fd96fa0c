//! Messages on the wire: one JSON-RPC object in each line.

use agent_client_protocol_schema::v1::{EnvVariable, Error, McpServer, McpServerStdio};
use serde::Serialize;
use serde_json::{Value, json};

pub(super) const INITIALIZE: u64 = 1;
pub(super) const OPEN: u64 = 2;
/// The number of the first prompt; further ones are odd, too.
pub(super) const FIRST_PROMPT: u64 = 3;
/// The number of the first setting; further ones are even, too.
pub(super) const FIRST_SETTING: u64 = 4;

#[derive(Debug)]
pub(super) enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notice { method: String, params: Value },
    Answer { id: u64, result: Result<Value, Box<Error>> },
}

impl Incoming {
    /// `None` if the line is not a message of the protocol.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let Value::Object(mut message) = serde_json::from_slice(line).ok()? else { return None };
        let mut take = |key: &str| message.remove(key);
        let id = take("id");
        if let Some(Value::String(method)) = take("method") {
            let params = take("params").unwrap_or(Value::Null);
            return Some(match id {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notice { method, params },
            });
        }
        let id = id?.as_u64()?;
        if let Some(error) = take("error") {
            let error = serde_json::from_value(error).unwrap_or_else(|_| Error::internal_error());
            return Some(Self::Answer { id, result: Err(Box::new(error)) });
        }
        Some(Self::Answer { id, result: Ok(take("result")?) })
    }

    /// The number of a request of which only the start is there, where all agents write it.
    pub(super) fn asker(start: &[u8]) -> Option<u64> {
        let start = String::from_utf8_lossy(&start[..start.len().min(300)]);
        let (_, rest) = start.split_once("\"id\":").filter(|_| start.contains("\"method\":"))?;
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }
}

/// Bytes to write to the agent.
#[derive(Debug, Default)]
pub(super) struct Outbox(Vec<u8>);

impl Outbox {
    pub(super) fn request(&mut self, id: u64, method: &str, params: &impl Serialize) {
        self.push(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(super) fn notify(&mut self, method: &str, params: &impl Serialize) {
        self.push(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(super) fn answer(&mut self, id: &Value, result: &impl Serialize) {
        self.push(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(super) fn refuse(&mut self, id: &Value, error: &Error) {
        self.push(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    fn push(&mut self, message: &Value) {
        self.0.extend_from_slice(message.to_string().as_bytes());
        self.0.push(b'\n');
    }
}

/// A tool server in the words of the protocol.
pub(super) fn tool_server(server: &crate::adapter::McpServer) -> McpServer {
    let env = server.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
    let stdio = McpServerStdio::new(&server.name, &server.command).args(server.args.clone()).env(env);
    McpServer::Stdio(stdio)
}
