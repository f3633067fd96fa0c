//! Google's Gemini interface. The model and whether to stream are in the path.

use serde_json::{Value, json};

use super::{Draft, QUOTA_SECONDS, Refused, USAGE, plain, speech};
use crate::model::http::Frame;
use crate::model::scenario::Wait;
use crate::model::script::{Block, Refusal, Why};
use crate::model::talk::{Talk, Tool, Turn, list, string, text_of};

pub(super) fn read(path: &str, body: &Value) -> Talk {
    let last = path.rsplit('/').next().unwrap_or_default();
    let (model, method) = last.split_once(':').unwrap_or((last, ""));
    let config = &body["generationConfig"];
    let tool = |tool: &Value| Tool {
        name: string(tool, "name"),
        schema: tool.get("parametersJsonSchema").unwrap_or(&tool["parameters"]).clone(),
        ..Tool::default()
    };
    let declarations = list(body, "tools").iter().flat_map(|tools| list(tools, "functionDeclarations"));
    let mut talk = Talk {
        model: model.to_owned(),
        system: text_of(&body["systemInstruction"]["parts"]),
        tools: declarations.map(tool).collect(),
        schema: config.get("responseJsonSchema").or_else(|| config.get("responseSchema")).cloned(),
        stream: method.starts_with("stream"),
        ..Talk::default()
    };
    for content in list(body, "contents") {
        let having = |key: &'static str| list(content, "parts").iter().filter_map(move |part| part.get(key));
        let text = text_of(&content["parts"]);
        if content["role"] == "model" {
            talk.push_model(&text, having("functionCall").map(|call| string(call, "name")).collect());
            continue;
        }
        if !text.trim().is_empty() {
            talk.turns.push(Turn::User(text));
        }
        talk.turns
            .extend(having("functionResponse").map(|answer| Turn::Tool(answer["response"].to_string())));
    }
    talk
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Frame> {
    let mut frames = Vec::new();
    for (index, block) in draft.blocks.iter().enumerate() {
        match block {
            Block::Text(pieces) => frames
                .extend(pieces.iter().map(|piece| speech(plain(&answer(draft, &[json!({"text": piece})]))))),
            Block::Call(_) => frames.push(plain(&answer(draft, &[part(block, index, draft.serial)]))),
        }
    }
    frames.push(plain(&finished(answer(draft, &[json!({"text": ""})]))));
    frames
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    let blocks = draft.blocks.iter().enumerate();
    let parts: Vec<_> = blocks.map(|(index, block)| part(block, index, draft.serial)).collect();
    finished(answer(draft, &parts))
}

fn part(block: &Block, index: usize, serial: u64) -> Value {
    match block {
        Block::Text(pieces) => json!({"text": pieces.concat()}),
        Block::Call(call) => {
            let id = format!("call-{serial}-{index}");
            json!({"functionCall": {"id": id, "name": call.name, "args": call.arguments()}})
        }
    }
}

fn answer(draft: &Draft<'_>, parts: &[Value]) -> Value {
    let candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    json!({"candidates": [candidate], "modelVersion": draft.model, "responseId": format!("resp-{}", draft.serial)})
}

fn finished(mut answer: Value) -> Value {
    answer["candidates"][0]["finishReason"] = "STOP".into();
    answer["usageMetadata"] = json!({
        "promptTokenCount": USAGE.input, "candidatesTokenCount": USAGE.output,
        "cachedContentTokenCount": USAGE.cache_read, "thoughtsTokenCount": USAGE.reasoning,
        "totalTokenCount": USAGE.input + USAGE.output + USAGE.reasoning,
    });
    answer
}

pub(super) fn broken_stream(why: Why) -> Vec<Frame> {
    let code = if why == Why::Overflow { 400 } else { 503 };
    vec![plain(&error(Refusal { code, why, wait: Wait::Unsaid }))]
}

pub(super) fn refuse(refusal: Refusal) -> Refused {
    // A wrong key is a bad request to this service.
    let code = if refusal.code == 401 { 400 } else { refusal.code };
    Refused { code, headers: Vec::new(), body: error(refusal) }
}

fn error(refusal: Refusal) -> Value {
    let (code, status, message) = match (refusal.code, refusal.why) {
        (_, Why::Overflow) => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        (401, _) => (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        (403, _) => (403, "PERMISSION_DENIED", "The caller does not have permission"),
        (404, _) => (404, "NOT_FOUND", "models/no-such-model is not found for API version v1beta"),
        (429, _) => {
            let text = "You exceeded your current quota, please check your plan and billing details.";
            (429, "RESOURCE_EXHAUSTED", text)
        }
        (500, _) => (500, "INTERNAL", "An internal error has occurred."),
        (503, _) => (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        (code @ 400..500, _) => (code, "INVALID_ARGUMENT", "The request is not valid."),
        (code, _) => (code, "UNKNOWN", "An error has occurred."),
    };
    json!({"error": {"code": code, "message": message, "status": status, "details": details(refusal)}})
}

fn details(refusal: Refusal) -> Vec<Value> {
    let google = "type.googleapis.com/google.rpc";
    match (refusal.code, refusal.why) {
        (401, _) => vec![json!({"@type": format!("{google}.ErrorInfo"), "reason": "API_KEY_INVALID",
                                "domain": "googleapis.com"})],
        (429, why) => {
            let period = if why == Why::Quota { "Day" } else { "Minute" };
            let violation = json!({"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
                                   "quotaId": format!("GenerateRequestsPer{period}PerProjectPerModel"),
                                   "quotaValue": "10"});
            vec![
                json!({"@type": format!("{google}.QuotaFailure"), "violations": [violation]}),
                json!({"@type": format!("{google}.RetryInfo"), "retryDelay": delay(refusal)}),
            ]
        }
        _ => Vec::new(),
    }
}

/// This service says it in the body.
fn delay(refusal: Refusal) -> String {
    match (refusal.why, refusal.wait) {
        (Why::Quota, _) => format!("{QUOTA_SECONDS}s"),
        (_, Wait::Seconds(seconds) | Wait::Date(seconds)) => format!("{seconds}s"),
        (_, Wait::Millis(millis)) => format!("{}.{:03}s", millis / 1000, millis % 1000),
        (_, Wait::Usual | Wait::Unsaid) => "1s".to_owned(),
    }
}
