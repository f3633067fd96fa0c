//! A client of the Model Context Protocol that starts a server and talks to it line by line.
//!
//! Owns only what a test needs to see of the protocol: what was asked, what was answered, what was told in between. It is
//! no client library, so that what goes over the wire is what the test wrote.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// For slow machines: an answer comes within milliseconds.
const SOON: Duration = Duration::from_mins(1);

/// A client, and the server that it started. The server is killed with it, unless it was closed before.
#[derive(Debug)]
pub struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    asked: u64,
    heard: Vec<Value>,
}

impl McpClient {
    /// Starts the server and says hello.
    #[track_caller]
    pub fn start(command: Command) -> Self {
        let mut client = Self::silent(command);
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        client.raw(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    /// Starts the server and says nothing.
    #[track_caller]
    pub fn silent(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("the server cannot be started: {error}"));
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (tell, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not_json": line}));
                if tell.send(value).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, asked: 0, heard: Vec::new() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line as it is.
    #[track_caller]
    pub fn raw(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is not closed");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("the server reads");
    }

    /// Asks, and does not wait for the answer. Returns the number of the question.
    #[track_caller]
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        let mut question = json!({"jsonrpc": "2.0", "id": id, "method": method});
        question["params"] = params;
        self.raw(&question.to_string());
        id
    }

    /// Calls a tool, and does not wait for the answer. Progress is told under the number that is returned.
    #[track_caller]
    pub fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        let token = self.asked + 1;
        let mut params = json!({"name": tool, "_meta": {"progressToken": token}});
        params["arguments"] = arguments;
        self.send("tools/call", params)
    }

    /// The answer to a question; what comes before it is kept.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        let is_it = |value: &Value| value["id"] == id && value.get("method").is_none();
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(at) = self.heard.iter().position(is_it) {
                return self.heard.remove(at);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(value) => self.heard.push(value),
                Err(RecvTimeoutError::Timeout) => panic!("no answer to {id}; heard {:?}", self.heard),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the server left without an answer to {id}; heard {:?}", self.heard)
                }
            }
        }
    }

    /// Asks and waits for the answer, whatever it is.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool and demands success; returns its structured content.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments);
        let mut result = self.result(id);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(
            serde_json::from_str::<Value>(text).ok().as_ref(),
            Some(&result["structuredContent"]),
            "{tool}"
        );
        result["structuredContent"].take()
    }

    /// The result of a call that was sent.
    #[track_caller]
    pub fn result(&mut self, id: u64) -> Value {
        let mut answer = self.answer(id);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// Calls a tool and demands that it is refused; returns the code, the message and the hints.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> (String, String, String) {
        let id = self.send_call(tool, arguments);
        let result = self.result(id);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let error = &result["structuredContent"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let hints: Vec<String> = error["hints"].as_array().into_iter().flatten().map(text).collect();
        let (code, message) = (text(&error["code"]), text(&error["message"]));
        let said = text(&result["content"][0]["text"]);
        assert_eq!(serde_json::from_str::<Value>(&said).ok().as_ref(), Some(error), "{tool}");
        (code, message, hints.join("\n"))
    }

    /// What the server told without being asked, so far.
    pub fn told(&self) -> impl Iterator<Item = &Value> {
        self.heard.iter().filter(|value| value.get("method").is_some())
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Leaves, as a client that ends: the server should end, too.
    #[track_caller]
    pub fn close(mut self) -> ExitStatus {
        drop(self.input.take());
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return status;
            }
            assert!(Instant::now() < deadline, "the server did not end with its input");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.kill();
    }
}
