//! Our side of the conversation.

mod opening;

use std::collections::VecDeque;
use std::path::PathBuf;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES as METHODS, CLIENT_METHOD_NAMES as ASKED, CancelNotification, ContentBlock, Error,
    Implementation, InitializeRequest, McpServer, PlanEntryStatus, PromptRequest, PromptResponse,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, SessionUpdate, StopReason,
};
use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};
use serde_json::Value;

use super::calls::ToolCalls;
use super::error::failure;
use super::offers::{OfferedSetting, SessionWishes};
use super::permission::{self, PermissionRules};
use super::remark::{self, Remark};
use super::speech::{Speech, SpeechKind};
use super::spending::ConversationCost;
use super::wire::{FIRST_PROMPT, INITIALIZE, Incoming, OPEN, Outbox, tool_server};
use crate::adapter::{AgentFailure, Brief, ContextReading, Conversation, Decoder};
use crate::common::refusal;
use crate::common::words::{self, one_line};

/// At most this many prompts wait for the end of a turn; further ones are refused until later.
const MAX_WAITING: usize = 100;

/// Gemini prints this among its words when its mode is set.
const MODE_REMARK: &str = "[MODE_UPDATE] ";

/// Messages of Qwen Code that are only for its own clients.
const NOISE: &[&str] = &["craft/drainMidTurnQueue", "qwen/notify/session/mode-update"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnState {
    /// The session is being opened and set up.
    NotYet,
    On,
    /// The next prompt may be sent.
    Over,
    /// There will be none.
    Never,
}

#[derive(Debug)]
pub(crate) struct AcpDecoder {
    workspace: PathBuf,
    servers: Vec<McpServer>,
    resumed: Option<String>,
    orders: Option<String>,
    wishes: SessionWishes,
    rules: PermissionRules,
    outbox: Outbox,
    session: Option<String>,
    /// The agent repeats what was said before, as it does when it loads a session.
    is_repeating: bool,
    turn: TurnState,
    /// Prompts that wait for their turn, the task first.
    waiting: VecDeque<String>,
    next_prompt: u64,
    /// The number of the last prompt that was answered, and of the last one that was answered well: all until then, the
    /// agent has.
    answered: u64,
    had: u64,
    /// The settings that were asked for and not confirmed.
    settings: Vec<(u64, OfferedSetting)>,
    speech: Speech,
    calls: ToolCalls,
    spending: ConversationCost,
    trouble: Option<AgentFailure>,
    /// Whether it reports failures among the words of the model.
    makes_remarks: bool,
    /// Its last remark, if nothing came after.
    remark: Option<AgentFailure>,
    tries: u32,
    complaint: Option<String>,
}

impl AcpDecoder {
    pub(crate) fn new(brief: &Brief<'_>) -> Self {
        let is_new = matches!(brief.conversation, Conversation::New { .. });
        let mut decoder = Self {
            workspace: brief.workspace.to_owned(),
            servers: brief.mcp.iter().map(tool_server).collect(),
            resumed: brief.conversation.resumed().map(ToOwned::to_owned),
            orders: brief.system_prompt.filter(|_| is_new).map(ToOwned::to_owned),
            wishes: SessionWishes {
                trust: brief.trust,
                model: brief.model.map(ToOwned::to_owned),
                effort: brief.effort.map(ToOwned::to_owned),
            },
            rules: PermissionRules::new(brief),
            outbox: Outbox::default(),
            session: None,
            is_repeating: false,
            turn: TurnState::NotYet,
            waiting: VecDeque::from([brief.prompt.to_owned()]),
            next_prompt: FIRST_PROMPT,
            answered: FIRST_PROMPT - 2,
            had: FIRST_PROMPT,
            settings: Vec::new(),
            speech: Speech::default(),
            calls: ToolCalls::default(),
            spending: ConversationCost::new(brief.conversation.meter()),
            trouble: None,
            makes_remarks: false,
            remark: None,
            tries: 0,
            complaint: None,
        };
        let us = Implementation::new("fleet", env!("CARGO_PKG_VERSION"));
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        decoder.outbox.request(INITIALIZE, METHODS.initialize, &hello);
        decoder
    }

    /// For an agent that reports failures within the text of the model.
    pub(crate) fn with_remarks(mut self) -> Self {
        self.makes_remarks = true;
        self
    }

    /// It failed in a way after which nothing more comes: its keeper may close its input.
    fn fail(&mut self, failure: AgentFailure, turn: TurnState) -> Vec<AgentEvent> {
        let mut events = failure.events();
        events.push(AgentEvent::Ended { text: None });
        self.trouble = Some(failure);
        self.turn = turn;
        events
    }

    fn answer(&mut self, id: u64, result: Result<Value, Box<Error>>) -> Option<Vec<AgentEvent>> {
        match (id, result) {
            (INITIALIZE, Ok(result)) => Some(self.initialized(&serde_json::from_value(result).ok()?)),
            (OPEN, Ok(result)) => self.opened(result),
            (INITIALIZE | OPEN, Err(error)) => {
                self.is_repeating = false;
                Some(self.fail(failure(&error), TurnState::Never))
            }
            // Turns are answered once each, in their order. Who reads the log later never asked, so that only this counts.
            (id, _) if id % 2 == 1 && Some(id) != self.answered.checked_add(2) => None,
            (id, Ok(result)) if id % 2 == 1 => {
                let over = serde_json::from_value(result).ok()?;
                self.answered = id;
                self.had = id;
                Some(self.turn_over(&over))
            }
            (id, Err(error)) if id % 2 == 1 => {
                self.answered = id;
                Some(self.turn_failed(failure(&error)))
            }
            (id, result) => Some(self.set(id, result.err().as_deref())),
        }
    }

    /// Sends the next prompt, if there is one.
    fn next_turn(&mut self) -> bool {
        let Some(session) = self.session.clone() else { return false };
        let Some(prompt) = self.waiting.pop_front() else { return false };
        let blocks = self.orders.take().into_iter().chain([prompt]).map(ContentBlock::from).collect();
        self.outbox.request(self.next_prompt, METHODS.session_prompt, &PromptRequest::new(session, blocks));
        self.next_prompt += 2;
        self.turn = TurnState::On;
        self.trouble = None;
        self.remark = None;
        true
    }

    fn turn_over(&mut self, response: &PromptResponse) -> Vec<AgentEvent> {
        let mut events: Vec<AgentEvent> = self.speech.flush().into_iter().collect();
        events.extend(self.spending.of_turn(response));
        let why = match response.stop_reason {
            StopReason::EndTurn => None,
            StopReason::MaxTokens => Some("the model's answer was too long"),
            StopReason::MaxTurnRequests => Some("the agent's limit of requests in one turn was reached"),
            StopReason::Refusal => Some("the model refused to continue"),
            StopReason::Cancelled => Some("the turn was cancelled"),
            _ => Some("the turn ended for an unknown reason"),
        };
        if let Some(why) = why {
            events.extend(self.turn_failed(AgentFailure::new(Reason::AgentError, why)));
            return events;
        }
        if let Some(failure) = self.remark.take() {
            events.extend(self.turn_failed(failure));
            return events;
        }
        self.turn = TurnState::Over;
        self.trouble = None;
        if !self.next_turn() {
            events.push(AgentEvent::Ended { text: self.speech.last().map(ToOwned::to_owned) });
        }
        events
    }

    fn turn_failed(&mut self, failure: AgentFailure) -> Vec<AgentEvent> {
        let mut events: Vec<AgentEvent> = self.speech.flush().into_iter().collect();
        events.extend(self.fail(failure, TurnState::Over));
        // Another prompt waits, and perhaps it helps.
        if self.next_turn() {
            events.pop();
        }
        events
    }

    fn notice(&mut self, method: &str, params: Value) -> Option<Vec<AgentEvent>> {
        if method != ASKED.session_update {
            return NOISE.contains(&method).then(Vec::new);
        }
        let update = serde_json::from_value::<SessionNotification>(params).ok()?.update;
        if self.is_repeating {
            return Some(Vec::new());
        }
        let mut events = Vec::new();
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let id = chunk.message_id.as_ref().map(|id| id.0.as_ref());
                events.extend(self.said(id, text_of(&chunk.content)));
                events.extend(self.spending.of_request(chunk.meta.as_ref()));
                return Some(events);
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                let id = chunk.message_id.as_ref().map(|id| id.0.as_ref());
                events.extend(self.speech.piece(SpeechKind::Thought, id, text_of(&chunk.content)));
                return Some(events);
            }
            SessionUpdate::ToolCall(call) => {
                events.extend(self.speech.flush());
                events.extend(self.calls.update(&call.into()));
            }
            SessionUpdate::ToolCallUpdate(update) => {
                events.extend(self.speech.flush());
                events.extend(self.calls.update(&update));
            }
            SessionUpdate::Plan(plan) => {
                events.extend(self.speech.flush());
                let lines = plan.entries.iter().map(|entry| {
                    let done = entry.status == PlanEntryStatus::Completed;
                    format!("- [{}] {}", if done { 'x' } else { ' ' }, one_line(&entry.content))
                });
                let lines: Vec<String> = lines.take(100).collect();
                events.push(AgentEvent::Reasoning { text: lines.join("\n") });
            }
            SessionUpdate::UsageUpdate(update) => {
                self.spending.context_update(update.used, update.size);
                events.extend(update.cost.as_ref().and_then(|cost| self.spending.cost(cost)));
            }
            // What the agent could be asked for, how it is set, what it is called: nothing that it did.
            _ => {}
        }
        Some(events)
    }

    fn said(&mut self, id: Option<&str>, words: &str) -> Vec<AgentEvent> {
        if words.is_empty() || words.starts_with(MODE_REMARK) {
            return Vec::new();
        }
        match remark::read(words).filter(|_| self.makes_remarks) {
            Some(Remark::Retry(text)) => {
                self.tries += 1;
                vec![AgentEvent::Retry { attempt: Some(self.tries), wait_ms: None, text }]
            }
            Some(Remark::Error(failure)) => {
                self.remark = Some(failure);
                Vec::new()
            }
            None => {
                self.remark = None;
                self.speech.piece(SpeechKind::Said, id, words)
            }
        }
    }

    /// The agent requests something.
    fn request(&mut self, id: &Value, method: &str, params: Value) -> Option<Vec<AgentEvent>> {
        if method != ASKED.session_request_permission {
            self.outbox.refuse(id, &Error::method_not_found());
            return NOISE.contains(&method).then(Vec::new);
        }
        let Ok(asked) = serde_json::from_value::<RequestPermissionRequest>(params) else {
            self.outbox.refuse(id, &Error::invalid_params());
            return None;
        };
        let mut events: Vec<AgentEvent> = self.speech.flush().into_iter().collect();
        let (call, told) = self.calls.asked(&asked.tool_call);
        let objection = self.rules.objection(call);
        events.extend(told);
        let tool = call.name();
        let outcome = permission::answer(&asked.options, objection.is_none());
        self.outbox.answer(id, &RequestPermissionResponse::new(outcome));
        events.extend(objection.map(|text| AgentEvent::Denied { tool, text }));
        Some(events)
    }
}

impl Decoder for AcpDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        if stream == Stream::Err {
            let said = words::trouble(&words::sentence(line));
            if !said.is_empty() {
                self.complaint = Some(said);
            }
        } else if cut {
            // One that waits for an answer has to get one, or the agent waits forever.
            if let Some(id) = Incoming::asker(line) {
                self.outbox.refuse(&id.into(), &Error::invalid_request());
            }
        } else {
            let understood = match Incoming::parse(line) {
                Some(Incoming::Request { id, method, params }) => self.request(&id, &method, params),
                Some(Incoming::Notice { method, params }) => self.notice(&method, params),
                Some(Incoming::Answer { id, result }) => self.answer(id, result),
                None => None,
            };
            if let Some(events) = understood {
                return events;
            }
        }
        AgentEvent::raw(stream, line, cut).into_iter().collect()
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        let events = self.speech.flush().into_iter().collect();
        let is_done = self.turn == TurnState::Over && self.waiting.is_empty();
        if self.trouble.is_some() || is_done || matches!(exit, AgentExit::NotStarted(_)) {
            return events;
        }
        // Before there is a session, the last line of standard error says why not.
        let complaint = self.complaint.take().filter(|_| self.session.is_none());
        let said = complaint.as_deref().unwrap_or_default();
        let reason = refusal::reason(None, said, &[]).unwrap_or(Reason::AgentError);
        let why = complaint
            .map_or_else(|| format!("{exit} in the middle of its turn"), |why| format!("{exit}: {why}"));
        self.trouble = Some(AgentFailure::new(reason, why));
        events
    }

    fn reply(&mut self) -> Vec<u8> {
        self.outbox.take()
    }

    fn prompt(&mut self, text: &str) -> bool {
        if self.turn == TurnState::Never || self.waiting.len() >= MAX_WAITING {
            return false;
        }
        self.waiting.push_back(text.to_owned());
        if self.turn == TurnState::Over {
            self.next_turn();
        }
        true
    }

    fn taken(&self) -> usize {
        usize::try_from(self.had.saturating_sub(FIRST_PROMPT) / 2).unwrap_or(usize::MAX)
    }

    fn interrupt(&mut self) -> bool {
        let Some(session) = self.session.clone().filter(|_| self.turn == TurnState::On) else { return false };
        self.waiting.clear();
        self.outbox.notify(METHODS.session_cancel, &CancelNotification::new(session));
        true
    }

    fn final_text(&self) -> Option<&str> {
        self.speech.last()
    }

    fn meter(&self) -> Option<Meter> {
        self.spending.meter()
    }

    fn context(&self) -> Option<ContextReading> {
        self.spending.context()
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.trouble.clone()
    }
}

fn text_of(content: &ContentBlock) -> &str {
    match content {
        ContentBlock::Text(text) => &text.text,
        _ => "",
    }
}
