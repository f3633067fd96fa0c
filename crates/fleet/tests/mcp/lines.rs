//! What comes on standard input and is no message, and clients that do not listen.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stage::Stage;

/// So long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

struct Raw {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Raw {
    fn start(stage: &Stage) -> Self {
        let mut command = stage.fleet.command(&["mcp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut raw = Self { server, input, output: BufReader::new(output) };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}});
        raw.write(
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
                .to_string()
                .as_bytes(),
        );
        assert_eq!(raw.read()["id"], 0);
        raw.write(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
        raw
    }

    fn write(&mut self, line: &[u8]) {
        self.input.write_all(&[line, b"\n"].concat()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn end(self) {
        let Self { mut server, input, output } = self;
        drop((input, output));
        let begun = Instant::now();
        while server.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "the server goes on without a client");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn whatever_comes_is_answered() {
    let stage = Stage::quiet();
    let mut raw = Raw::start(&stage);
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let long = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {{"x": "{}"}}}}"#,
        "x".repeat(5 << 20)
    );
    let cases: [(&[u8], i64, &str); 12] = [
        (b"not json", -32700, "this is not JSON"),
        (b"{\"a\": \"\xff\"}", -32700, "this is not JSON"),
        (&deep, -32700, "this is not JSON"),
        (long.as_bytes(), -32600, "longer than 4 MiB"),
        (b"[]", -32600, "not a message"),
        (br#"{"id": 5}"#, -32600, "not a message"),
        (br#"{"id": 5, "method": "ping"}"#, -32600, "not a message"),
        (br#"{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "wait", "arguments": "x"}}"#, -32602, "`arguments`, an object"),
        (br#"{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {}}"#, -32602, "`name`, a text"),
        (br#"{"jsonrpc": "2.0", "id": 5, "method": "resources/read"}"#, -32602, "`uri`, a text"),
        (br#"{"jsonrpc": "2.0", "id": 5, "method": "prompts/get", "params": []}"#, -32600, "not a message"),
        (br#"{"jsonrpc": "2.0", "id": 5, "method": "tools/cal"}"#, -32601, "tools/cal"),
    ];
    for (line, code, message) in cases {
        raw.write(line);
        let answer = raw.read();
        let shown = String::from_utf8_lossy(&line[..line.len().min(100)]);
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(message), "{shown}: {answer}");
        let is_named = shown.contains(r#""id": 5"#);
        assert_eq!(answer.get("id").cloned(), is_named.then(|| json!(5)), "{shown}: {answer}");
    }
    raw.write(b"");
    raw.write(br#"{"jsonrpc": "2.0", "id": "last", "method": "ping"}"#);
    assert_eq!(raw.read(), json!({"jsonrpc": "2.0", "id": "last", "result": {}}));
    raw.end();
}

#[test]
fn a_client_that_does_not_read_is_not_answered_ahead() {
    const ASKED: usize = 5_000;
    let stage = Stage::quiet();
    let mut raw = Raw::start(&stage);
    let pid = raw.server.id().to_string();
    let mut input = raw.input;
    let asking = thread::spawn(move || {
        for id in 1..=ASKED {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
            input.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
        input
    });
    // It takes no more when so many answers wait; whenever we look, it must not have grown.
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until && !asking.is_finished() {
        let output = Command::new("ps").args(["-o", "rss=", "-p", &pid]).output().unwrap();
        let kib: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        assert!(kib < 150 * 1024, "{kib} KiB for answers that nobody reads");
        thread::sleep(Duration::from_millis(50));
    }
    let mut answered = vec![false; ASKED + 1];
    for _ in 0..ASKED {
        let mut line = String::new();
        raw.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        answered[usize::try_from(answer["id"].as_u64().unwrap()).unwrap()] = true;
    }
    assert_eq!(answered.iter().filter(|answered| **answered).count(), ASKED, "each has its answer");
    let input = asking.join().unwrap();
    Raw { server: raw.server, input, output: raw.output }.end();
}
