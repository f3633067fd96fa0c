//! The server over HTTP: who may speak to it, and that it serves them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Stage;

/// A server on a port of its own, killed in the end.
pub(crate) struct Server {
    child: Child,
    address: String,
    pub(crate) token: String,
}

/// An answer: the status, the headers in lower case, and the body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    pub(crate) fn start(stage: &Stage) -> Self {
        let token = stage.fleet.ok(&["mcp", "token"]).trim_end().to_owned();
        let mut command = stage.fleet.command(&["mcp", "--http", "127.0.0.1:0"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split("/mcp").next().unwrap().to_owned();
        Self { child, address, token }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// One request over a connection of its own. HTTP/1.0, so that the end of the answer is the end of the connection.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send("POST", headers, body)
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut request = format!(
            "{method} /mcp HTTP/1.0\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n",
            body.len()
        );
        let has_host = headers.iter().any(|(name, _)| *name == "Host");
        for (name, value) in headers.iter().copied().chain((!has_host).then_some(("Host", "localhost"))) {
            request.extend([name, ": ", value, "\r\n"]);
        }
        // A server that refuses may answer and close before it has read all: writing and reading then end with an error.
        let _ = write!(stream, "{request}\r\n{body}");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A session of a client that said hello.
    fn session(&self) -> String {
        let answer = self.post(&[("Authorization", &self.bearer())], &hello());
        assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
        let session =
            answer.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let headers = [("Authorization", &*self.bearer()), ("Mcp-Session-Id", &*session)];
        assert_eq!(self.post(&headers, &ready.to_string()).status, 202);
        session
    }

    fn call(&self, session: &str, tool: &str, arguments: Value) -> Value {
        let mut call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool}});
        call["params"]["arguments"] = arguments;
        let headers = [("Authorization", &*self.bearer()), ("Mcp-Session-Id", session)];
        let answer = self.post(&headers, &call.to_string());
        let lines = answer.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let found =
            lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|value| value["id"] == 7);
        found.unwrap_or_else(|| panic!("{} {}", answer.head, answer.body))["result"]["structuredContent"]
            .clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> String {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

#[test]
fn two_clients_are_served_at_once() {
    let stage = Stage::new();
    let server = Server::start(&stage);
    let (one, other) = (server.session(), server.session());
    assert_ne!(one, other);
    let worker = server.call(&one, "create_worker", stage.order("write a.txt one"));
    let waited = server.call(&other, "wait", json!({"worker_ids": [worker["worker_id"]]}));
    assert_eq!(waited["workers"][0]["status"], "succeeded", "{waited}");
}

#[test]
fn a_session_that_is_ended_is_gone_for_everybody() {
    let stage = Stage::quiet();
    let server = Server::start(&stage);
    let (bearer, session) = (server.bearer(), server.session());
    let delete = |session: &str| {
        let named = [("Authorization", &*bearer), ("Mcp-Session-Id", session)];
        server.send("DELETE", &named[..if session.is_empty() { 1 } else { 2 }], "").status
    };
    assert_eq!(delete("made-up"), 404);
    assert_eq!(delete(""), 400, "which one?");
    assert_eq!(delete(&session), 204);
    assert_eq!(delete(&session), 404);
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}).to_string();
    let headers = [("Authorization", &*bearer), ("Mcp-Session-Id", &*session)];
    assert_eq!(server.post(&headers, &ping).status, 404, "so that a client begins anew");
}

#[test]
fn only_those_who_know_the_token_and_the_name_are_let_in() {
    let stage = Stage::quiet();
    let server = Server::start(&stage);
    let bearer = server.bearer();
    let wrong = format!("Bearer {}", "0".repeat(64));
    let cut = bearer[..bearer.len() - 1].to_owned();
    for (headers, status) in [
        (vec![], 401),
        (vec![("Authorization", wrong.as_str())], 401),
        (vec![("Authorization", cut.as_str())], 401),
        (vec![("Authorization", "Bearer ")], 401),
        (vec![("Authorization", server.token.as_str())], 401),
        (vec![("Authorization", bearer.as_str()), ("Host", "evil.example")], 403),
        (vec![("Authorization", bearer.as_str()), ("Origin", "https://evil.example")], 403),
        (vec![("Authorization", bearer.as_str()), ("Origin", "null")], 403),
        (vec![("Authorization", bearer.as_str()), ("Origin", "http://localhost:3000")], 200),
        (vec![("Authorization", bearer.as_str()), ("Host", server.address.as_str())], 200),
    ] {
        let answer = server.post(&headers, &hello());
        assert_eq!(answer.status, status, "{headers:?}: {} {}", answer.head, answer.body);
        assert!(status != 401 || answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
        assert!(!answer.body.contains(&server.token), "the token is told to nobody");
    }
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(5 * 1024 * 1024));
    assert_eq!(server.post(&[("Authorization", &bearer)], &large).status, 413);
    assert_eq!(server.post(&[("Authorization", &bearer)], "{not json").status / 100, 4);
}

#[test]
fn other_machines_are_let_in_only_on_purpose() {
    let stage = Stage::quiet();
    let refused = stage.fleet.fail(2, &["mcp", "--http", "0.0.0.0:0"]);
    assert!(refused.stderr.contains("--allow-remote"), "{}", refused.stderr);
    for bad in ["localhost", "127.0.0.1", "x:1", "127.0.0.1:99999"] {
        stage.fleet.fail(2, &["mcp", "--http", bad]);
    }
    let server = Server::start(&stage);
    let taken = stage.fleet.fail(1, &["mcp", "--http", &server.address]);
    assert!(taken.stderr.contains("cannot listen"), "{}", taken.stderr);
}

#[test]
fn the_token_is_made_once_private_and_can_be_renewed() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::quiet();
    let first = stage.fleet.json(&["mcp", "token"]);
    assert_eq!(first["token"], stage.fleet.ok(&["mcp", "token"]).trim_end());
    let mode = std::fs::metadata(first["file"].as_str().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut server = Server::start(&stage);
    let renewed = stage.fleet.ok(&["mcp", "token", "--renew"]);
    assert_ne!(first["token"], renewed.trim_end());
    let status = |server: &Server| server.post(&[("Authorization", &server.bearer())], &hello()).status;
    assert_eq!(status(&server), 401, "the old one is refused at once");
    server.token = renewed.trim_end().to_owned();
    assert_eq!(status(&server), 200);
    assert_eq!(stage.fleet.ok(&["mcp", "token"]), renewed);
}

#[test]
fn those_who_only_connect_keep_nobody_out() {
    let stage = Stage::quiet();
    let server = Server::start(&stage);
    // More than are let in at once; none of them ever says what it wants.
    let silent: Vec<TcpStream> = (0..520)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ").unwrap();
            stream
        })
        .collect();
    let answer = server.post(&[("Authorization", &server.bearer())], &hello());
    assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
    drop(silent);
}
