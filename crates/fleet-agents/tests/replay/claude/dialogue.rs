//! What is said to Claude Code, and when.

use fleet_agents::{Brief, Decoder, Trust};
use fleet_core::outcome::AgentExit;
use serde_json::{Value, json};

use super::says;
use crate::harness::{decoder, plain};

fn said(decoder: &mut dyn Decoder) -> Vec<Value> {
    let bytes = decoder.reply();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn taken(words: &str) -> Value {
    json!({"type": "user", "isReplay": true, "session_id": "s", "message": {"role": "user", "content": words}})
}

fn result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "ok"})
}

#[test]
fn the_prompt_is_the_first_thing_said() {
    let mut decoder = decoder("claude", &Brief { prompt: "two\nlines", ..plain() });
    let content = json!([{"type": "text", "text": "two\nlines"}]);
    assert_eq!(
        said(&mut *decoder),
        [json!({"type": "user", "message": {"role": "user", "content": content}})]
    );
    assert_eq!(decoder.reply(), b"");
}

#[test]
fn a_prompt_in_the_queue_keeps_the_talk_going() {
    let mut decoder = decoder("claude", &plain());
    decoder.reply();
    assert!(decoder.prompt("and this"));
    assert_eq!(said(&mut *decoder).len(), 1);
    assert_eq!(says(&mut *decoder, &[taken("Do it"), result()]).ended, 0);
    assert_eq!(decoder.taken(), 0, "it has not said so");
    assert_eq!(says(&mut *decoder, &[taken("and this"), result()]).ended, 1);
    assert_eq!(decoder.taken(), 1);
    assert_eq!(decoder.failure(), None);
}

#[test]
fn a_prompt_that_became_part_of_the_turn_ends_with_it() {
    let mut decoder = decoder("claude", &plain());
    assert!(decoder.prompt("and this"));
    assert_eq!(says(&mut *decoder, &[taken("Do it"), taken("and this"), result()]).ended, 1);
}

#[test]
fn versions_that_do_not_say_what_they_took_still_end() {
    let mut decoder = decoder("claude", &plain());
    assert!(decoder.prompt("and this"));
    assert_eq!(decoder.taken(), 0);
    assert_eq!(says(&mut *decoder, &[result(), result()]).ended, 2);
    assert_eq!(decoder.taken(), 1);
}

#[test]
fn an_interrupt_is_said_and_ends_the_talk() {
    let mut decoder = decoder("claude", &plain());
    assert!(decoder.prompt("and this"));
    decoder.reply();
    assert!(decoder.interrupt());
    let words = said(&mut *decoder);
    assert_eq!(words[0]["request"], json!({"subtype": "interrupt"}));
    assert!(words[0]["request_id"].is_string());
    let broken = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "terminal_reason": "aborted_tools", "errors": ["[ede_diagnostic] x"], "session_id": "s"});
    let answer =
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "fleet-1"}});
    let seen = says(&mut *decoder, &[taken("Do it"), answer, broken]);
    assert_eq!((seen.ended, seen.raw), (1, 0));
    assert_eq!(decoder.failure().unwrap().text, "the turn was interrupted (aborted_tools)");
}

#[test]
fn nothing_is_said_to_the_dead() {
    let mut decoder = decoder("claude", &plain());
    decoder.end(&AgentExit::Code(0));
    assert!(!decoder.prompt("more") && !decoder.interrupt());
}

#[test]
fn what_it_asks_is_answered_at_once() {
    let asks = json!({"type": "control_request", "request_id": "r9", "request": {"subtype": "can_use_tool",
        "tool_name": "SandboxNetworkAccess", "tool_use_id": "t1", "input": {"host": "example.com"}}});
    for (trust, behavior, denied) in
        [(Trust::ReadOnly, "deny", 1), (Trust::Sandbox, "deny", 1), (Trust::Full, "allow", 0)]
    {
        let mut decoder = decoder("claude", &Brief { trust, ..plain() });
        decoder.reply();
        let seen = says(&mut *decoder, std::slice::from_ref(&asks));
        let words = said(&mut *decoder);
        let response = &words[0]["response"];
        assert_eq!((&words[0]["type"], &response["request_id"]), (&json!("control_response"), &json!("r9")));
        assert_eq!(response["response"]["behavior"], behavior);
        assert_eq!(seen.denied.len(), denied);
        let again = json!({"type": "result", "is_error": false, "result": "ok", "permission_denials": [
            {"tool_name": "SandboxNetworkAccess", "tool_use_id": "t1", "tool_input": {}}]});
        assert_eq!(says(&mut *decoder, &[again]).denied.len(), 1 - denied);
    }
    let mut decoder = decoder("claude", &plain());
    decoder.reply();
    let odd = json!({"type": "control_request", "request_id": 7, "request": {"subtype": "hook_callback"}});
    says(&mut *decoder, &[odd, json!({"type": "control_request"})]);
    let words = said(&mut *decoder);
    assert_eq!(words.len(), 2);
    assert!(words.iter().all(|word| word["response"]["subtype"] == "error"));
    assert_eq!(words[0]["response"]["request_id"], 7);
}
