//! What happens in a session, and how it ends.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Acp, Talk, begun, methods, option, plain};
use crate::adapter::{Adapter, Ask, Brief, Conversation, PromptVia, Trust};
use fleet_core::event::{AgentEvent, Counted, Stream, Tokens};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};

fn asks(kind: &str, file: &str) -> Value {
    json!({ "id": "q7", "method": "session/request_permission", "params": {
        "sessionId": "s1",
        "toolCall": { "toolCallId": "c1", "kind": kind, "title": "Do it", "locations": [{ "path": file }] },
        "options": [
            { "optionId": "always", "name": "a", "kind": "allow_always" },
            { "optionId": "once", "name": "o", "kind": "allow_once" },
            { "optionId": "no", "name": "n", "kind": "reject_once" },
        ],
    } })
}

#[test]
fn trust_answers_what_the_agent_asks_for() {
    let git_dirs = [PathBuf::from("/repo/.git")];
    for (trust, kind, file, answer) in [
        (Trust::Sandbox, "edit", "/w/lynx/src/a.rs", "once"),
        (Trust::Sandbox, "edit", "src/a.rs", "once"),
        (Trust::Sandbox, "edit", "/repo/.git/index", "once"),
        (Trust::Sandbox, "edit", "/tmp/x", "once"),
        (Trust::Sandbox, "edit", "/w/lynx/../../home/u/.bashrc", "no"),
        (Trust::Sandbox, "delete", "/w/lynxes/a", "no"),
        (Trust::Sandbox, "read", "/etc/hosts", "once"),
        (Trust::Sandbox, "execute", "/etc/hosts", "once"),
        (Trust::Full, "edit", "/etc/hosts", "once"),
        (Trust::ReadOnly, "read", "/etc/hosts", "once"),
        (Trust::ReadOnly, "search", "a", "once"),
        (Trust::ReadOnly, "edit", "/w/lynx/a", "no"),
        (Trust::ReadOnly, "execute", "a", "no"),
        (Trust::ReadOnly, "unheard_of", "a", "no"),
        (Trust::ReadOnly, "switch_mode", "a", "no"),
    ] {
        let brief = Brief { trust, git_dirs: &git_dirs, ..plain() };
        let (mut talk, _) = Talk::opened(&brief, &json!({}), &json!({ "sessionId": "s1" }));
        let said = talk.says(&asks(kind, file));
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": answer } });
        assert_eq!(
            said,
            [json!({ "jsonrpc": "2.0", "id": "q7", "result": outcome })],
            "{trust:?} {kind} {file}"
        );
        let denied = talk.events.iter().filter(|event| matches!(event, AgentEvent::Denied { .. })).count();
        assert_eq!(denied, usize::from(answer == "no"), "{trust:?} {kind} {file}");
    }
}

#[test]
fn the_agent_gets_no_files_or_terminals_of_ours_but_always_an_answer() {
    let mut talk = begun();
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "odd"]
    {
        let said = talk.says(&json!({ "id": 5, "method": method, "params": {} }));
        assert_eq!((said.len(), &said[0]["error"]["code"]), (1, &json!(-32601)), "{method}");
    }
    let said = talk.says(&json!({ "id": 6, "method": "session/request_permission", "params": {} }));
    assert_eq!(said[0]["error"]["code"], -32602);
    let long = br#"{"jsonrpc":"2.0","id":12,"method":"session/request_permission","params":{"#;
    assert!(matches!(talk.decoder.line(Stream::Out, long, true)[..], [AgentEvent::Raw { cut: true, .. }]));
    let said = talk.heard();
    assert_eq!((&said[0]["id"], &said[0]["error"]["code"]), (&json!(12), &json!(-32600)));
    talk.decoder.line(Stream::Out, br#"{"jsonrpc":"2.0","id":12,"result":{"#, true);
    assert_eq!(talk.heard(), [Value::Null; 0], "an answer is not answered");
}

#[test]
fn prompts_wait_for_their_turn_and_the_last_turn_ends_it() {
    let mut talk = Talk::new(&plain());
    assert!(talk.decoder.prompt("second"), "before there is a session");
    assert_eq!(talk.decoder.taken(), 0, "it only lies in our queue");
    talk.heard();
    talk.says(&json!({ "id": 1, "result": { "protocolVersion": 1 } }));
    let said = talk.says(&json!({ "id": 2, "result": { "sessionId": "s1" } }));
    assert_eq!(said[0]["params"]["prompt"][0]["text"], "Fix it");
    assert_eq!(talk.heard(), [Value::Null; 0]);
    let over = |id: u64| json!({ "id": id, "result": { "stopReason": "end_turn" } });
    let said = talk.says(&over(3));
    assert_eq!((&said[0]["id"], &said[0]["params"]["prompt"][0]["text"]), (&json!(5), &json!("second")));
    assert!(!talk.events.iter().any(|event| matches!(event, AgentEvent::Ended { .. })), "not yet");
    for id in [3, 7, 4_611_686_018_427_387_905, u64::MAX] {
        assert_eq!(talk.says(&over(id)), [Value::Null; 0], "{id} was not asked, or was answered");
    }
    assert_eq!(talk.decoder.taken(), 0, "it may still lose it");
    assert_eq!(talk.says(&over(5)), [Value::Null; 0]);
    assert_eq!(talk.decoder.taken(), 1);
    assert_eq!(talk.events.last(), Some(&AgentEvent::Ended { text: None }));
    assert!(talk.decoder.prompt("third"), "it is our turn");
    assert_eq!(talk.heard()[0]["params"]["prompt"][0]["text"], "third");
    assert!(talk.decoder.interrupt());
    assert_eq!(methods(&talk.heard()), ["session/cancel"]);
    talk.says(&json!({ "id": 7, "result": { "stopReason": "cancelled" } }));
    assert!(!talk.decoder.interrupt(), "no turn is on");
    assert_eq!(talk.failure(), Some((Reason::AgentError, "the turn was cancelled".to_owned())));
    assert!((0..200).any(|_| !talk.decoder.prompt("flood")), "there is a bound");
}

#[test]
fn errors_have_reasons() {
    for (code, message, data, reason) in [
        (-32000, "Authentication required", json!(null), Reason::Auth),
        (-32603, "Internal error: Incorrect API key provided: dummy.", json!(null), Reason::Auth),
        (-32603, "Internal error", json!({ "details": "rate_limit_error" }), Reason::RateLimited),
        (
            -32603,
            "Internal error",
            json!({ "details": "You've hit your usage limit" }),
            Reason::QuotaExhausted,
        ),
        (-32603, "prompt is too long", json!(null), Reason::ContextOverflow),
        (-32603, "Internal error", json!({ "details": "overloaded_error" }), Reason::ProviderOutage),
        (429, "slow down", json!(null), Reason::RateLimited),
        (503, "later", json!(null), Reason::ProviderOutage),
        (-32603, "Internal error", json!(null), Reason::AgentError),
    ] {
        let mut talk = begun();
        talk.says(&json!({ "id": 3, "error": { "code": code, "message": message, "data": data } }));
        assert_eq!(talk.failure().map(|(reason, _)| reason), Some(reason), "{code} {message} {data}");
        assert_eq!(talk.events.last(), Some(&AgentEvent::Ended { text: None }));
        let limits = talk.events.iter().filter(|event| matches!(event, AgentEvent::RateLimit { .. })).count();
        let is_limit = matches!(reason, Reason::RateLimited | Reason::QuotaExhausted);
        assert_eq!(limits, usize::from(is_limit));
    }
}

#[test]
fn an_end_before_the_end_is_an_abort() {
    let mut early = Talk::new(&plain());
    early.decoder.line(Stream::Err, b"Error: not logged in", false);
    early.decoder.end(&AgentExit::Code(1));
    let text = "the agent ended with exit status 1: Error: not logged in".to_owned();
    assert_eq!(early.failure(), Some((Reason::Auth, text)));
    let mut late = begun();
    late.decoder.line(Stream::Err, b"not logged in to the database", false);
    late.decoder.end(&AgentExit::Code(0));
    let text = "the agent ended with exit status 0 in the middle of its turn".to_owned();
    assert_eq!(late.failure(), Some((Reason::AgentError, text)));
    let mut other = Talk::new(&plain());
    other.says(&json!({ "id": 1, "result": { "protocolVersion": 2 } }));
    let text = "it speaks version 2 of the protocol, not 1".to_owned();
    assert_eq!(other.failure(), Some((Reason::AgentError, text)));
}

#[test]
fn a_tool_is_told_when_it_says_what_it_does() {
    let mut talk = begun();
    talk.events.clear();
    talk.update(
        &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "I will" } }),
    );
    talk.update(
        &json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Preparing…", "name": "Write",
                         "kind": "edit", "status": "pending", "rawInput": {} }),
    );
    assert_eq!(talk.events, [AgentEvent::Text { text: "I will".to_owned() }], "no word about what it writes");
    talk.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "title": "Write a.txt",
                         "rawInput": { "file_path": "/w/a.txt" },
                         "content": [{ "type": "diff", "path": "/w/b.txt", "newText": "x" }] }));
    talk.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed",
                         "rawOutput": { "error": "disk full" } }));
    let files = vec!["/w/a.txt".to_owned(), "/w/b.txt".to_owned()];
    assert_eq!(
        talk.events[1..],
        [
            AgentEvent::ToolCall {
                id: "c1".to_owned(),
                name: "Write".to_owned(),
                summary: "/w/a.txt".to_owned(),
                files: files.clone(),
            },
            AgentEvent::ToolResult { id: "c1".to_owned(), ok: false, summary: "disk full".to_owned(), files },
        ]
    );
    talk.events.clear();
    talk.update(&json!({ "sessionUpdate": "plan", "entries": [
        { "content": "look", "priority": "high", "status": "completed" },
        { "content": "leap", "priority": "low", "status": "pending" },
    ] }));
    assert_eq!(talk.events, [AgentEvent::Reasoning { text: "- [x] look\n- [ ] leap".to_owned() }]);
    for n in 0..1000 {
        talk.update(&json!({ "sessionUpdate": "tool_call", "toolCallId": format!("n{n}"), "title": "x" }));
    }
}

/// Known trap: the money is that of the whole conversation, the tokens are those of one turn.
#[test]
fn nothing_is_counted_twice() {
    let spent = |amount: f64| {
        json!({ "sessionUpdate": "usage_update", "used": 5, "size": 10,
                "cost": { "amount": amount, "currency": "USD" } })
    };
    let meter = Meter { micro_usd: 300_000, ..Meter::default() };
    let conversation = Conversation::Resume { session: "s1", meter };
    let (mut talk, _) =
        Talk::opened(&Brief { conversation, ..plain() }, &json!({}), &json!({ "sessionId": "s1" }));
    talk.events.clear();
    assert_eq!(talk.decoder.meter(), None);
    for amount in [0.4, 0.4, 0.5] {
        talk.update(&spent(amount));
    }
    let cost = |micro_usd| AgentEvent::Cost { micro_usd, counted: Counted::Total };
    assert_eq!(talk.events, [cost(100_000), cost(200_000)]);
    assert_eq!(talk.decoder.meter().unwrap().micro_usd, 500_000);
    let context = talk.decoder.context().map(|context| (context.tokens, context.limit));
    assert_eq!(context, Some((5, Some(10))), "it tells how full the conversation is");
    let usage = json!({ "inputTokens": 10, "outputTokens": 4, "thoughtTokens": 1, "cachedReadTokens": 3,
                        "totalTokens": 18 });
    for id in [3, 5] {
        talk.says(&json!({ "id": id, "result": { "stopReason": "end_turn", "usage": usage } }));
    }
    let tokens = Tokens { input: 10, output: 5, cache_read: 3, cache_write: 0 };
    let used = AgentEvent::Usage { tokens, counted: Counted::Delta };
    assert_eq!(talk.events.iter().filter(|event| **event == used).count(), 2);
    // One that counts anew in each process begins below the meter.
    let (mut anew, _) =
        Talk::opened(&Brief { conversation, ..plain() }, &json!({}), &json!({ "sessionId": "s1" }));
    anew.update(&spent(0.1));
    anew.update(&spent(0.4));
    assert_eq!(anew.events[1..], [cost(100_000), cost(400_000)]);
}

/// Known trap: Copilot ends a turn as if all were well when every request failed.
#[test]
fn what_copilot_remarks_is_a_failure_unless_it_goes_on() {
    let chunk = |text: &str| {
        let content = json!({ "type": "text", "text": text });
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } })
    };
    let over = json!({ "id": 3, "result": { "stopReason": "end_turn" } });
    let failure = |adapter: Acp, texts: &[&str]| {
        let mut decoder = adapter.decoder(&plain());
        for message in texts.iter().map(|text| chunk(text)).chain([over.clone()]) {
            decoder.line(Stream::Out, message.to_string().as_bytes(), false);
        }
        decoder.failure().map(|failure| failure.reason)
    };
    let error = "Error: Last error: 429 slow down";
    assert_eq!(failure(Acp::COPILOT, &[error]), Some(Reason::RateLimited));
    assert_eq!(failure(Acp::COPILOT, &[error, "On we go."]), None);
    assert_eq!(failure(Acp::COPILOT, &["Error: odd"]), Some(Reason::AgentError));
    assert_eq!(failure(Acp::COPILOT, &["Info: nothing of note"]), None);
    assert_eq!(failure(Acp::ANY, &[error]), None, "the words of any other model");
}

#[test]
fn copilot_gets_its_model_as_an_option() {
    let brief = Brief { model: Some("gpt-5"), effort: Some("low"), ..plain() };
    let plan = Acp::COPILOT.plan(&brief);
    assert_eq!(plan.args, ["--acp", "--model", "gpt-5", "--reasoning-effort", "low"]);
    assert_eq!((plan.prompt, plan.ask), (PromptVia::Dialogue, Some(Ask::Say)));
    assert_eq!(plan.env, [("COPILOT_AUTO_UPDATE".to_owned(), "false".to_owned())]);
    let mut decoder = Acp::COPILOT.decoder(&brief);
    let options = json!([option("model", &["m1"]), option("thought_level", &["low"])]);
    decoder.line(Stream::Out, br#"{"id":1,"result":{"protocolVersion":1}}"#, false);
    decoder.reply();
    let session = json!({ "id": 2, "result": { "sessionId": "s", "configOptions": options } });
    decoder.line(Stream::Out, session.to_string().as_bytes(), false);
    let said = String::from_utf8(decoder.reply()).unwrap();
    assert!(said.contains("session/prompt") && !said.contains("set_config_option"), "{said}");
    let any = Acp::ANY.plan(&brief);
    assert!(any.args.is_empty() && Acp::ANY.about().takes_prompts);
}

#[test]
fn qwen_asks_us_and_gives_up_soon() {
    let scratch = std::path::Path::new("/run/scratch");
    let brief = Brief { model: Some("coder"), effort: Some("low"), scratch, ..plain() };
    let plan = Acp::QWEN.plan(&brief);
    assert_eq!(plan.args, ["--acp", "--approval-mode", "default", "--model", "coder"]);
    let path = "/run/scratch/qwen-defaults.json";
    assert_eq!(plan.env, [("QWEN_CODE_SYSTEM_DEFAULTS_PATH".to_owned(), path.to_owned())]);
    assert_eq!((plan.files.len(), plan.files[0].path.as_path()), (1, std::path::Path::new(path)));
    let settings: Value = serde_json::from_str(&plan.files[0].content).unwrap();
    let expected = json!({ "maxRetries": 1, "timeout": 120_000 });
    assert_eq!(settings["model"]["generationConfig"], expected);
    assert!(plan.pass_env.iter().any(|name| name == "OPENAI_*"));
}

/// Known trap: Qwen Code tells the tokens of each request beside the words, and an agent may tell them at the end, too.
#[test]
fn tokens_that_were_told_with_the_pieces_are_not_told_again() {
    let mut talk = begun();
    talk.events.clear();
    let usage = json!({ "inputTokens": 10, "outputTokens": 4, "cachedReadTokens": 3, "totalTokens": 14 });
    let over = |id: u64| json!({ "id": id, "result": { "stopReason": "end_turn", "usage": usage } });
    let empty = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "" },
                        "_meta": { "usage": usage } });
    talk.update(&empty);
    talk.update(&empty);
    talk.says(&over(3));
    talk.says(&over(5));
    let tokens = Tokens { input: 7, output: 4, cache_read: 3, cache_write: 0 };
    let used = AgentEvent::Usage { tokens, counted: Counted::Delta };
    let ended = AgentEvent::Ended { text: None };
    assert_eq!(talk.events, [used.clone(), used.clone(), ended.clone(), used, ended]);
}
