//! From Claude Code's lines to events.

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};
use serde_json::Value;

use super::account::Account;
use super::lines::{self, blocks, result_event, said, short};
use super::speech;
use super::trouble::{self, PlanLimit};
use crate::adapter::{AgentFailure, Brief, ContextReading, Decoder, Trust};
use crate::common::json::{list, object, text};
use crate::common::recent::Recent;
use crate::common::tool;
use crate::common::words::{self, one_line};

/// How many refusals are remembered in order to report each once; further ones may be reported twice.
const MAX_DENIED: usize = 256;

#[derive(Debug)]
pub(super) struct ClaudeDecoder {
    account: Account,
    trust: Trust,
    /// Words that wait to be written to its input.
    speech: OutgoingMessages,
    session: Option<String>,
    /// Whether it told what it has at hand, which it does again for every turn.
    introduced: bool,
    denied: Recent<()>,
    final_text: Option<String>,
    /// What went wrong since the model last said anything.
    trouble: Option<AgentFailure>,
    /// Whether the last turn ended.
    ended: bool,
    /// The last thing on standard error, which is all there is when it refuses to start.
    complaint: String,
}

/// What we say to the agent.
#[derive(Debug, Default)]
struct OutgoingMessages {
    waiting: Vec<u8>,
    /// Prompts that were sent, and those of them that the agent says it has taken up.
    sent: u32,
    taken: u32,
    interrupts: u32,
    over: bool,
}

impl OutgoingMessages {
    fn say(&mut self, line: &Value) {
        self.waiting.extend_from_slice(line.to_string().as_bytes());
        self.waiting.push(b'\n');
    }

    fn prompt(&mut self, words: &str) {
        self.sent += 1;
        self.say(&speech::prompt(words));
    }

    /// Whether a prompt is in the agent's queue, so that it continues by itself after this turn. Only for agents that
    /// said they took one.
    const fn is_queued(&self) -> bool {
        self.taken > 0 && self.taken < self.sent
    }

    /// How many prompts beside the task it has. A version that does not say what it took has all at the end of a turn.
    const fn further(&self, ended: bool) -> u32 {
        let has = if self.taken == 0 && ended { self.sent } else { self.taken };
        let has = if has < self.sent { has } else { self.sent };
        has.saturating_sub(1)
    }
}

impl ClaudeDecoder {
    pub(super) fn new(brief: &Brief<'_>) -> Self {
        let mut speech = OutgoingMessages::default();
        speech.prompt(brief.prompt);
        Self {
            account: Account::new(brief.conversation.meter()),
            trust: brief.trust,
            speech,
            session: None,
            introduced: false,
            denied: Recent::new(MAX_DENIED),
            final_text: None,
            trouble: None,
            ended: false,
            complaint: String::new(),
        }
    }

    /// `None` for a line that is not understood.
    fn understood(&mut self, line: &Value) -> Option<Vec<AgentEvent>> {
        Some(match text(line, "type")? {
            "system" => self.system(line)?,
            "assistant" => self.assistant(line),
            "user" => self.user(line)?,
            "result" => self.result(line),
            "rate_limit_event" => self.limit(line),
            "control_request" => self.asked(line),
            "control_response" if text(&line["response"], "subtype") == Some("success") => Vec::new(),
            // Pieces of what comes as a whole, and signs of life.
            "stream_event" | "keep_alive" | "tool_progress" | "control_cancel_request" => Vec::new(),
            _ => return None,
        })
    }

    /// Every line has the id, understood or not; but a result also names one that could not be resumed.
    fn session(&mut self, line: &Value) -> Option<AgentEvent> {
        let session = words::id(text(line, "session_id")?);
        if text(line, "type") == Some("result") || self.session.as_ref() == Some(&session) {
            return None;
        }
        self.session = Some(session.clone());
        Some(AgentEvent::SessionStarted { session })
    }

    fn system(&mut self, line: &Value) -> Option<Vec<AgentEvent>> {
        Some(match text(line, "subtype")? {
            "init" => self.init(line),
            "api_retry" => {
                let (event, failure) = trouble::retry(line);
                let hopeless = if failure.reason.is_hopeless() { failure.events() } else { Vec::new() };
                self.trouble = Some(failure);
                [event].into_iter().chain(hopeless).collect()
            }
            "permission_denied" => {
                let why = words::trouble(text(line, "message").unwrap_or_default());
                self.denial(line, why).into_iter().collect()
            }
            "hook_response" if text(line, "outcome") != Some("success") => return None,
            "status" | "task_started" | "task_progress" | "task_notification" | "hook_started"
            | "hook_progress" | "hook_response" | "ui_invalidate" | "command_lifecycle" => Vec::new(),
            _ => return None,
        })
    }

    fn init(&mut self, line: &Value) -> Vec<AgentEvent> {
        self.ended = false;
        if std::mem::replace(&mut self.introduced, true) {
            return Vec::new();
        }
        let broken = list(line, "mcp_servers").iter().filter(|server| server["status"] == "failed");
        let broken = broken.take(lines::MAX_BLOCKS).map(|server| AgentEvent::Error {
            reason: Reason::AgentError,
            text: format!("the tool server {} could not be reached", short(server, "name")),
        });
        let model = text(line, "model").map(|model| AgentEvent::Model { model: words::id(model) });
        let place = text(line, "cwd").map(tool::working_directory);
        place.into_iter().chain(model).chain(broken).collect()
    }

    fn assistant(&mut self, line: &Value) -> Vec<AgentEvent> {
        let message = &line["message"];
        let failed = line["is_api_error_message"] == true || text(line, "error").is_some();
        if failed {
            return self.failed(line, &lines::words(&message["content"]));
        }
        self.trouble = None;
        self.ended = false;
        let counted = self.account.message(message);
        let is_subagent = text(line, "parent_tool_use_id").is_some();
        if !is_subagent {
            self.account.main_message(message);
        }
        let last = blocks(line).last().filter(|block| block["type"] == "text" && !is_subagent);
        if let Some(last) = last.and_then(|block| text(block, "text")) {
            self.final_text = Some(words::last(last));
        }
        blocks(line).iter().filter_map(said).chain(counted).collect()
    }

    fn user(&mut self, line: &Value) -> Option<Vec<AgentEvent>> {
        if line["isReplay"] == true {
            self.speech.taken = self.speech.taken.saturating_add(1);
            return Some(Vec::new());
        }
        let details = &line["tool_use_result"];
        let results = blocks(line).iter().filter(|block| block["type"] == "tool_result");
        let results: Vec<_> = results.map(|block| result_event(block, details)).collect();
        let stopped = lines::words(&line["message"]["content"]).starts_with("[Request interrupted");
        (stopped || !results.is_empty()).then_some(results)
    }

    fn result(&mut self, line: &Value) -> Vec<AgentEvent> {
        let mut events = self.account.result(line);
        for denial in list(line, "permission_denials").iter().take(lines::MAX_BLOCKS) {
            events.extend(self.denial(denial, not_allowed(&denial["tool_input"])));
        }
        let text = if line["is_error"] == true {
            events.extend(self.failed(line, &complaint(line)));
            None
        } else {
            self.trouble = None;
            let text = text(line, "result").map(words::last);
            self.final_text = text.clone().or(self.final_text.take());
            text
        };
        self.ended = true;
        if !self.speech.is_queued() || self.speech.interrupts > 0 {
            events.push(AgentEvent::Ended { text });
        }
        events
    }

    /// A request failed for good. The message and the result report the same failure, and the first with the most
    /// detail counts.
    fn failed(&mut self, line: &Value, words: &str) -> Vec<AgentEvent> {
        let mut failure = trouble::failed(line, words);
        let mut told = false;
        if let Some(known) = self.trouble.take() {
            if failure.reason == Reason::AgentError || is_quota(&known, &failure) {
                failure.reason = known.reason;
            }
            if failure.reason == known.reason {
                failure.until = failure.until.or(known.until);
                told = known.reason.is_hopeless() || known.text == failure.text;
            }
        }
        let events = if told { Vec::new() } else { failure.events() };
        self.trouble = Some(failure);
        events
    }

    fn limit(&mut self, line: &Value) -> Vec<AgentEvent> {
        match trouble::limit(line) {
            PlanLimit::Fine => Vec::new(),
            PlanLimit::Near(event) => vec![event],
            PlanLimit::Reached(failure) => {
                let events = failure.events();
                self.trouble = Some(failure);
                events
            }
        }
    }

    fn asked(&mut self, line: &Value) -> Vec<AgentEvent> {
        self.speech.say(&speech::answer(line, self.trust));
        let request = &line["request"];
        if text(request, "subtype") != Some("can_use_tool") || self.trust == Trust::Full {
            return Vec::new();
        }
        self.denial(request, not_allowed(&request["input"])).into_iter().collect()
    }

    /// A refusal, unless it was reported before.
    fn denial(&mut self, denied: &Value, why: String) -> Option<AgentEvent> {
        if let Some(id) = text(denied, "tool_use_id") {
            if self.denied.contains(id) {
                return None;
            }
            self.denied.add(id, ());
        }
        Some(AgentEvent::Denied { tool: short(denied, "tool_name"), text: why })
    }
}

fn not_allowed(input: &Value) -> String {
    format!("not allowed: {}", tool::summary(input))
}

/// The provider says "too many requests" for a used-up plan as well, and only the notice before it told which.
fn is_quota(known: &AgentFailure, now: &AgentFailure) -> bool {
    known.reason == Reason::QuotaExhausted && now.reason == Reason::RateLimited
}

/// What a result says about its failure. Diagnostics for the makers of Claude Code are not for people.
fn complaint(line: &Value) -> String {
    let told = text(line, "result").map(str::to_owned);
    let errors = || {
        let errors = list(line, "errors").iter().filter_map(Value::as_str);
        errors.filter(|error| !error.starts_with("[ede_diagnostic]")).map(str::to_owned).next()
    };
    told.or_else(errors).unwrap_or_else(|| {
        let how = text(line, "terminal_reason").or(text(line, "subtype")).unwrap_or("no reason given");
        format!("the turn was interrupted ({})", one_line(how))
    })
}

impl Decoder for ClaudeDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let raw = || AgentEvent::raw(stream, line, cut);
        if stream == Stream::Err {
            let said = words::trouble(&words::sentence(line));
            if !said.is_empty() {
                self.complaint = said;
            }
            return raw().into_iter().collect();
        }
        let value = if cut { None } else { object(line) };
        let Some(value) = value else { return raw().into_iter().collect() };
        let session = self.session(&value);
        let events = self.understood(&value).unwrap_or_else(|| raw().into_iter().collect());
        session.into_iter().chain(events).collect()
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        self.speech.over = true;
        if !self.ended && self.trouble.is_none() && !matches!(exit, AgentExit::NotStarted(_)) {
            let words = match self.complaint.as_str() {
                words if !words.is_empty() && !self.introduced => words.to_owned(),
                _ => format!("{exit} in the middle of a turn"),
            };
            self.trouble = Some(trouble::failed(&Value::Null, &words));
        }
        Vec::new()
    }

    fn reply(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.speech.waiting)
    }

    fn prompt(&mut self, text: &str) -> bool {
        if !self.speech.over {
            self.speech.prompt(text);
        }
        !self.speech.over
    }

    fn taken(&self) -> usize {
        let further = self.speech.further(self.ended);
        usize::try_from(further).unwrap_or(usize::MAX)
    }

    fn interrupt(&mut self) -> bool {
        if !self.speech.over {
            self.speech.interrupts += 1;
            self.speech.say(&speech::interrupt(self.speech.interrupts));
        }
        !self.speech.over
    }

    fn final_text(&self) -> Option<&str> {
        self.final_text.as_deref()
    }

    fn meter(&self) -> Option<Meter> {
        Some(self.account.meter())
    }

    fn context(&self) -> Option<ContextReading> {
        self.account.context()
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.trouble.clone()
    }
}
