//! Conversations in which the test is the agent.

mod opening;
mod turns;

use std::path::Path;

use serde_json::{Value, json};

use super::Acp;
use crate::adapter::{Adapter, Brief, Decoder};
use fleet_core::event::{AgentEvent, Stream};
use fleet_core::run::Reason;

/// One side of a conversation, in which the test is the agent.
struct Talk {
    decoder: Box<dyn Decoder>,
    events: Vec<AgentEvent>,
}

impl Talk {
    fn new(brief: &Brief<'_>) -> Self {
        Self { decoder: Acp::ANY.decoder(brief), events: Vec::new() }
    }

    /// What we say.
    fn heard(&mut self) -> Vec<Value> {
        let said = self.decoder.reply();
        said.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    /// What the agent says; what we say to that.
    fn says(&mut self, message: &Value) -> Vec<Value> {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.events.extend(self.decoder.line(Stream::Out, message.to_string().as_bytes(), false));
        self.heard()
    }

    fn update(&mut self, update: &Value) {
        let params = json!({ "sessionId": "s1", "update": update });
        assert_eq!(self.says(&json!({ "method": "session/update", "params": params })), [Value::Null; 0]);
    }

    /// Up to the first prompt.
    fn opened(brief: &Brief<'_>, able: &Value, session: &Value) -> (Self, Vec<Value>) {
        let mut talk = Self::new(brief);
        let mut said = talk.heard();
        said.extend(
            talk.says(&json!({ "id": 1, "result": { "protocolVersion": 1, "agentCapabilities": able } })),
        );
        said.extend(talk.says(&json!({ "id": 2, "result": session })));
        (talk, said)
    }

    fn failure(&mut self) -> Option<(Reason, String)> {
        self.decoder.failure().map(|failure| (failure.reason, failure.text))
    }
}

fn plain() -> Brief<'static> {
    Brief::plain("Fix it", Path::new("/w/lynx"))
}

fn begun() -> Talk {
    Talk::opened(&plain(), &json!({}), &json!({ "sessionId": "s1" })).0
}

fn methods(said: &[Value]) -> Vec<&str> {
    said.iter().map(|message| message["method"].as_str().unwrap_or("answer")).collect()
}

/// A setting that a session offers.
fn option(category: &str, values: &[&str]) -> Value {
    let values: Vec<Value> = values.iter().map(|value| json!({ "value": value, "name": value })).collect();
    json!({ "id": format!("the-{category}"), "name": "n", "category": category, "type": "select",
            "currentValue": values[0]["value"], "options": values })
}
