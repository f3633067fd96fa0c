//! Sessions: how they are opened and set.

use serde_json::{Value, json};

use super::{Talk, methods, option, plain};
use crate::adapter::{Brief, Conversation, McpServer, Trust};
use fleet_core::event::AgentEvent;
use fleet_core::run::{Meter, Reason};

#[test]
fn a_new_session_is_opened_with_what_the_brief_has() {
    let mcp = [McpServer {
        name: "fleet".to_owned(),
        command: "/bin/fleet".to_owned(),
        args: vec!["mcp".to_owned()],
        env: vec![("TOKEN".to_owned(), "t".to_owned())],
    }];
    let brief = Brief { system_prompt: Some("Be brief."), mcp: &mcp, ..plain() };
    let (talk, said) = Talk::opened(&brief, &json!({}), &json!({ "sessionId": "s1" }));
    assert_eq!(methods(&said), ["initialize", "session/new", "session/prompt"]);
    assert_eq!(said[0]["params"]["protocolVersion"], 1);
    let offered = &said[0]["params"]["clientCapabilities"];
    assert_eq!(offered["fs"], json!({ "readTextFile": false, "writeTextFile": false }));
    assert_eq!(offered["terminal"], false);
    assert_eq!(said[1]["params"]["cwd"], "/w/lynx");
    assert_eq!(
        said[1]["params"]["mcpServers"],
        json!([{ "name": "fleet", "command": "/bin/fleet", "args": ["mcp"],
                 "env": [{ "name": "TOKEN", "value": "t" }] }])
    );
    assert_eq!(said[2]["params"]["sessionId"], "s1");
    let texts = json!([{ "type": "text", "text": "Be brief." }, { "type": "text", "text": "Fix it" }]);
    assert_eq!(said[2]["params"]["prompt"], texts);
    assert_eq!(talk.events, [AgentEvent::SessionStarted { session: "s1".to_owned() }]);
}

#[test]
fn a_session_goes_on_by_the_best_way_that_the_agent_has() {
    let conversation = Conversation::Resume { session: "s0", meter: Meter::default() };
    let brief = Brief { conversation, system_prompt: Some("Be brief."), ..plain() };
    let resume = json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } });
    for (able, method, session, id) in [
        (resume, "session/resume", json!({}), "s0"),
        (json!({ "loadSession": true }), "session/load", json!({}), "s0"),
        (json!({}), "session/new", json!({ "sessionId": "s1" }), "s1"),
    ] {
        let (talk, said) = Talk::opened(&brief, &able, &session);
        assert_eq!(methods(&said), ["initialize", method, "session/prompt"]);
        assert_eq!(talk.events, [AgentEvent::SessionStarted { session: id.to_owned() }], "{method}");
        assert_eq!(said[2]["params"]["prompt"].as_array().unwrap().len(), 1, "it has its orders already");
    }
}

/// Known trap: a session that is loaded repeats all that was said, which is no news and no usage of this run.
#[test]
fn what_is_repeated_while_a_session_loads_is_no_event() {
    let conversation = Conversation::Resume { session: "s0", meter: Meter::default() };
    let mut talk = Talk::new(&Brief { conversation, ..plain() });
    talk.says(
        &json!({ "id": 1, "result": { "protocolVersion": 1, "agentCapabilities": { "loadSession": true } } }),
    );
    let old = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "old" } });
    talk.update(&old);
    talk.update(
        &json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "status": "completed" }),
    );
    talk.says(&json!({ "id": 2, "result": {} }));
    assert_eq!(talk.events, [AgentEvent::SessionStarted { session: "s0".to_owned() }]);
    assert_eq!(talk.decoder.final_text(), None);
}

fn modes(ids: &[&str]) -> Value {
    let modes: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "name": id })).collect();
    json!({ "sessionId": "s1", "modes": { "currentModeId": ids[0], "availableModes": modes } })
}

#[test]
fn the_session_is_set_before_the_task_is_sent() {
    let brief = Brief { model: Some("m2"), effort: Some("high"), trust: Trust::ReadOnly, ..plain() };
    let options = json!([
        option("mode", &["https://x/modes#agent", "https://x/modes#plan"]),
        option("model", &["m1", "m2"]),
        option("thought_level", &["low", "high"]),
    ]);
    let session = json!({ "sessionId": "s1", "configOptions": options });
    let (mut talk, said) = Talk::opened(&brief, &json!({}), &session);
    let set: Vec<(&Value, &Value)> = said[2..]
        .iter()
        .map(|message| (&message["params"]["configId"], &message["params"]["value"]))
        .collect();
    assert_eq!(
        set,
        [
            (&json!("the-mode"), &json!("https://x/modes#plan")),
            (&json!("the-model"), &json!("m2")),
            (&json!("the-thought_level"), &json!("high")),
        ]
    );
    assert_eq!(talk.says(&json!({ "id": 4, "result": {} })), [Value::Null; 0]);
    // It goes on without the right amount of thought.
    let refused = json!({ "id": 8, "error": { "code": -32602, "message": "no" } });
    assert_eq!(talk.says(&refused), [Value::Null; 0]);
    assert_eq!(methods(&talk.says(&json!({ "id": 6, "result": {} }))), ["session/prompt"]);
}

#[test]
fn a_mode_is_chosen_only_where_the_present_one_does_not_fit() {
    let chosen = |trust, ids: &[&str]| {
        let (_, said) = Talk::opened(&Brief { trust, ..plain() }, &json!({}), &modes(ids));
        said[2]["params"]["modeId"].as_str().map(ToOwned::to_owned)
    };
    let codex = ["read-only", "auto", "full-access"];
    assert_eq!(chosen(Trust::ReadOnly, &codex), None);
    assert_eq!(chosen(Trust::Sandbox, &codex).as_deref(), Some("auto"));
    assert_eq!(chosen(Trust::Full, &codex).as_deref(), Some("full-access"));
    let gemini = ["default", "autoEdit", "yolo", "plan"];
    assert_eq!(chosen(Trust::ReadOnly, &gemini).as_deref(), Some("plan"));
    assert_eq!(chosen(Trust::Sandbox, &gemini), None);
    assert_eq!(chosen(Trust::ReadOnly, &["only"]), None);
}

#[test]
fn a_model_that_is_refused_ends_the_run() {
    let brief = Brief { model: Some("m9"), ..plain() };
    let session = json!({ "sessionId": "s1", "models": { "currentModelId": "m1" } });
    let (mut talk, said) = Talk::opened(&brief, &json!({}), &session);
    assert_eq!(said[2]["method"], "session/set_model");
    assert_eq!(said[2]["params"], json!({ "sessionId": "s1", "modelId": "m9" }));
    let said = talk.says(&json!({ "id": 4, "error": { "code": -32602, "message": "no such thing" } }));
    assert_eq!(said, [Value::Null; 0], "the task is not sent");
    let reason = Reason::BadModel;
    let error = AgentEvent::Error { reason, text: "no such thing".to_owned() };
    assert_eq!(talk.events[1..], [error, AgentEvent::Ended { text: None }]);
    assert!(!talk.decoder.prompt("more") && !talk.decoder.interrupt());
}
