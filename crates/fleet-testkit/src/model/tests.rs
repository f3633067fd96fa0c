//! The server, asked as an agent would.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::wait_until;

/// For answers that come at once; the machine may be busy.
const BOUND: Duration = Duration::from_mins(1);

struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// Sends a request and reads until the server ends the connection.
fn ask(base: &str, path: &str, body: &Value) -> Answer {
    let mut stream = send(base, path, body);
    // Says that there are no more requests.
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn send(base: &str, path: &str, body: &Value) -> TcpStream {
    let (address, prefix) = base.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    let body = body.to_string();
    let length = body.len();
    write!(stream, "POST /{prefix}{path} HTTP/1.1\r\nx-api-key: k\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    stream
}

/// A question of claude's main loop.
fn question(stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "tools": [{"name": "Write"}],
           "messages": [{"role": "user", "content": "TARGET=a.txt"}]})
}

#[test]
fn a_question_is_answered_and_recorded() {
    let server = ModelServer::start();
    let base = server.base("ok", "one");
    let answer = ask(&base, "/v1/messages?beta=true", &question(false));
    assert_eq!(answer.status, 200);
    let message: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(message["content"][1]["input"]["file_path"], "a.txt");
    let requests = server.requests("one");
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!(
        (request.protocol, request.path.as_str()),
        (Some(Protocol::Messages), "/v1/messages?beta=true")
    );
    assert!(request.authorised && request.talk.is_main());
    assert_eq!(request.body["model"], "m");
    assert_eq!(server.requests("two"), []);
}

#[test]
fn a_model_can_change_its_mind() {
    let server = ModelServer::start();
    let (one, two) = (server.base("401", "one"), server.base("401", "two"));
    assert_eq!(ask(&one, "/v1/messages", &question(false)).status, 401);
    server.switch("one", "ok");
    assert_eq!(ask(&one, "/v1/messages", &question(false)).status, 200);
    assert_eq!(ask(&two, "/v1/messages", &question(false)).status, 401, "only towards this run");
    server.switch_at("two", 3, "ok");
    let next = || ask(&two, "/v1/messages", &question(false)).status;
    assert_eq!([next(), next()], [401, 200], "its second and third question");
}

#[test]
fn streams_end_properly() {
    let server = ModelServer::start();
    let answer = ask(&server.base("text", "one"), "/v1/messages", &question(true));
    assert!(answer.head.contains("transfer-encoding: chunked"), "{}", answer.head);
    assert!(answer.body.contains("event: message_stop\n"), "{}", answer.body);
    assert!(answer.body.ends_with("\r\n0\r\n\r\n"), "{}", answer.body);
}

#[test]
fn a_stream_can_be_cut() {
    let server = ModelServer::start();
    let answer = ask(&server.base("trunc", "one"), "/v1/messages", &question(true));
    assert!(answer.body.contains("This is answer 1"), "{}", answer.body);
    assert!(!answer.body.contains("message_stop"), "{}", answer.body);
    assert_eq!(ask(&server.base("trunc", "one"), "/v1/messages", &question(false)).status, 0, "no way round");
}

#[test]
fn errors_are_counted_for_each_run() {
    let server = ModelServer::start();
    let status = |run: &str| ask(&server.base("503x2", run), "/v1/messages", &question(false)).status;
    assert_eq!([status("one"), status("one"), status("one")], [503, 503, 200]);
    assert_eq!(status("two"), 503);
    assert_eq!(server.questions("one").len(), 3);
}

#[test]
fn silence_lasts_until_somebody_goes() {
    let server = ModelServer::start();
    for (scenario, beginning) in [("hang", ""), ("hangmid", "HTTP/1.1 200 OK")] {
        let mut stream = send(&server.base(scenario, scenario), "/v1/messages", &question(true));
        let mut said = vec![0; beginning.len()];
        stream.read_exact(&mut said).unwrap();
        assert_eq!(said, beginning.as_bytes());
        wait_until(BOUND, "the request is seen", || !server.requests(scenario).is_empty());
    }
    let base = server.base("hang", "last");
    let mut stream = send(&base, "/v1/messages", &question(true));
    wait_until(BOUND, "the request is seen", || !server.requests("last").is_empty());
    drop(server);
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "nothing was said, and the connection is over");
}

#[test]
fn what_is_no_question_gets_a_harmless_answer() {
    let server = ModelServer::start();
    let base = server.base("429", "one");
    assert_eq!(ask(&base, "/v1/messages/count_tokens", &json!({})).status, 200);
    assert_eq!(ask(&base, "/v1/models", &json!({})).status, 200);
    assert_eq!(ask(&base, "/somewhere/else", &json!({})).status, 404);
    let address = base.split("/s/").next().unwrap();
    assert_eq!(ask(&format!("{address}/s/nonsense/run"), "/v1/messages", &question(false)).status, 404);
    assert!(server.questions("one").is_empty());
}

#[test]
fn a_warning_comes_in_the_headers() {
    let server = ModelServer::start();
    let answer = ask(&server.base("warn", "one"), "/v1/messages", &question(true));
    assert!(answer.head.contains("anthropic-ratelimit-unified-status: allowed_warning"), "{}", answer.head);
}

#[test]
#[should_panic(expected = "there is no scenario `okay`")]
fn a_misspelt_scenario_is_found_out_at_once() {
    ModelServer::start().base("okay", "one");
}
