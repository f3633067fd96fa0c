//! From Claude Code's lines to events.

use std::collections::VecDeque;

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use serde_json::Value;

use super::account::{Account, Habit};
use super::lines::{blocks, came_of, said, short, whole, words};
use super::trouble::{self, Limit};
use super::{lines, speech};
use crate::adapter::{Brief, Decoder, Failure, Stream, Trust};
use crate::common::json::{list, one_line, text};
use crate::event::{AgentEvent, Meter};

/// Refusals that are remembered in order to tell each once; more are told twice at worst.
const MOST_DENIED: usize = 256;

/// What understands Claude Code, and Qwen Code, which prints the same shapes.
#[derive(Debug)]
pub(crate) struct ClaudeDecoder {
    account: Account,
    trust: Trust,
    /// Words that wait to be written to its input; nothing for a relative that is not spoken with.
    speech: Option<Speech>,
    session: Option<String>,
    /// Whether it told what it has at hand, which it does again for every turn.
    introduced: bool,
    denied: VecDeque<String>,
    final_text: Option<String>,
    /// What went wrong since the model last said anything.
    trouble: Option<Failure>,
    /// Whether the last turn came to an end.
    ended: bool,
    /// The last thing on standard error, which is all there is when it refuses to start.
    complaint: String,
}

/// The half of the talk that is ours.
#[derive(Debug, Default)]
struct Speech {
    waiting: Vec<u8>,
    /// Prompts that were sent, and those of them that the agent says it has taken up.
    sent: u32,
    taken: u32,
    interrupts: u32,
    over: bool,
}

impl Speech {
    fn say(&mut self, line: &Value) {
        self.waiting.extend_from_slice(line.to_string().as_bytes());
        self.waiting.push(b'\n');
    }

    fn prompt(&mut self, words: &str) {
        self.sent += 1;
        self.say(&speech::prompt(words));
    }

    /// Whether a prompt lies in the agent's queue, so that it goes on by itself after this turn. Who never said that it
    /// took one is not relied on for that.
    const fn is_queued(&self) -> bool {
        self.taken > 0 && self.taken < self.sent
    }
}

impl ClaudeDecoder {
    /// For a process that is spoken with.
    pub(super) fn talking(brief: &Brief<'_>) -> Self {
        let mut speech = Speech::default();
        speech.prompt(brief.prompt);
        Self { speech: Some(speech), ..Self::listening(brief, Habit::PerTurn) }
    }

    /// For a process that only prints.
    pub(crate) fn listening(brief: &Brief<'_>, habit: Habit) -> Self {
        Self {
            account: Account::new(habit, brief.conversation.meter()),
            trust: brief.trust,
            speech: None,
            session: None,
            introduced: false,
            denied: VecDeque::new(),
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

    /// Every line has the id, understood or not; but a result also names one that could not be gone on with.
    fn session(&mut self, line: &Value) -> Option<AgentEvent> {
        let session = text(line, "session_id").filter(|id| id.len() <= LONGEST_ID)?;
        if text(line, "type") == Some("result") || self.session.as_deref() == Some(session) {
            return None;
        }
        self.session = Some(session.to_owned());
        Some(AgentEvent::SessionStarted { session: session.to_owned() })
    }

    fn system(&mut self, line: &Value) -> Option<Vec<AgentEvent>> {
        Some(match text(line, "subtype")? {
            "init" => self.init(line),
            "api_retry" => {
                let (event, failure) = trouble::retry(line);
                let hopeless = failure.reason.is_hopeless().then(|| error(&failure));
                self.trouble = Some(failure);
                [event].into_iter().chain(hopeless).collect()
            }
            "permission_denied" => {
                let id = short(line, "tool_use_id");
                self.denial(&id, &short(line, "tool_name"), short(line, "message")).into_iter().collect()
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
        let broken = broken.take(MOST_DENIED).map(|server| AgentEvent::Error {
            reason: Reason::AgentError,
            text: format!("the tool server {} could not be reached", short(server, "name")),
        });
        broken.collect()
    }

    fn assistant(&mut self, line: &Value) -> Vec<AgentEvent> {
        let message = &line["message"];
        let failed = line["is_api_error_message"] == true || text(line, "error").is_some();
        if failed {
            return self.failed(line, &words(&message["content"]));
        }
        self.trouble = None;
        self.ended = false;
        let counted = self.account.message(message);
        let said: Vec<_> = blocks(line).iter().filter_map(said).collect();
        let is_subagent = text(line, "parent_tool_use_id").is_some();
        if let Some(AgentEvent::Text { text }) = said.last()
            && !is_subagent
        {
            self.final_text = Some(text.clone());
        }
        said.into_iter().chain(counted).collect()
    }

    fn user(&mut self, line: &Value) -> Option<Vec<AgentEvent>> {
        if line["isReplay"] == true {
            if let Some(speech) = &mut self.speech {
                speech.taken = speech.taken.saturating_add(1);
            }
            return Some(Vec::new());
        }
        let details = &line["tool_use_result"];
        let results = blocks(line).iter().filter(|block| block["type"] == "tool_result");
        let results: Vec<_> = results.map(|block| came_of(block, details)).collect();
        let stopped = words(&line["message"]["content"]).starts_with("[Request interrupted");
        (stopped || !results.is_empty()).then_some(results)
    }

    fn result(&mut self, line: &Value) -> Vec<AgentEvent> {
        let mut events = self.account.result(line);
        for denial in list(line, "permission_denials").iter().take(MOST_DENIED) {
            let (id, tool) = (short(denial, "tool_use_id"), short(denial, "tool_name"));
            let why = format!("not allowed: {}", crate::common::json::summary(&denial["tool_input"]));
            events.extend(self.denial(&id, &tool, one_line(&why)));
        }
        let text = if line["is_error"] == true {
            events.extend(self.failed(line, &complaint(line)));
            None
        } else {
            self.trouble = None;
            let text = text(line, "result").map(whole);
            self.final_text = text.clone().or(self.final_text.take());
            text
        };
        self.ended = true;
        let speech = self.speech.as_ref();
        if !speech.is_some_and(|speech| speech.is_queued() && speech.interrupts == 0) {
            events.push(AgentEvent::Ended { text });
        }
        events
    }

    /// A request failed for good. The message and the result tell of the same one, and the first that knew most counts.
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
        let event = error(&failure);
        self.trouble = Some(failure);
        if told { Vec::new() } else { vec![event] }
    }

    fn limit(&mut self, line: &Value) -> Vec<AgentEvent> {
        match trouble::limit(line) {
            Limit::Fine => Vec::new(),
            Limit::Near(event) => vec![event],
            Limit::Reached(event, failure) => {
                let events = vec![event, error(&failure)];
                self.trouble = Some(failure);
                events
            }
        }
    }

    fn asked(&mut self, line: &Value) -> Vec<AgentEvent> {
        let Some(speech) = &mut self.speech else { return Vec::new() };
        speech.say(&speech::answer(line, self.trust));
        let request = &line["request"];
        if text(request, "subtype") != Some("can_use_tool") || self.trust == Trust::Full {
            return Vec::new();
        }
        let (id, tool) = (short(request, "tool_use_id"), short(request, "tool_name"));
        let why = format!("not allowed: {}", crate::common::json::summary(&request["input"]));
        self.denial(&id, &tool, one_line(&why)).into_iter().collect()
    }

    /// A refusal, unless it was told already.
    fn denial(&mut self, id: &str, tool: &str, why: String) -> Option<AgentEvent> {
        if !id.is_empty() {
            if self.denied.iter().any(|known| known == id) {
                return None;
            }
            self.denied.truncate(MOST_DENIED - 1);
            self.denied.push_front(id.to_owned());
        }
        Some(AgentEvent::Denied { tool: tool.to_owned(), text: why })
    }
}

/// Longer ones are no ids.
const LONGEST_ID: usize = 256;

fn error(failure: &Failure) -> AgentEvent {
    AgentEvent::Error { reason: failure.reason, text: failure.text.clone() }
}

/// The provider says "too many requests" for a used-up plan as well, and only the notice before it told which.
fn is_quota(known: &Failure, now: &Failure) -> bool {
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
        let how = text(line, "terminal_reason").or(text(line, "subtype")).unwrap_or("no reason told");
        format!("the turn was broken off ({})", one_line(how))
    })
}

impl Decoder for ClaudeDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let raw = || AgentEvent::raw(stream, line, cut);
        if stream == Stream::Err {
            self.complaint = lines::complaint(line).unwrap_or(std::mem::take(&mut self.complaint));
            return raw().into_iter().collect();
        }
        let value = if cut { None } else { serde_json::from_slice::<Value>(line).ok() };
        let Some(value) = value else { return raw().into_iter().collect() };
        let session = self.session(&value);
        let events = self.understood(&value).unwrap_or_else(|| raw().into_iter().collect());
        session.into_iter().chain(events).collect()
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        if let Some(speech) = &mut self.speech {
            speech.over = true;
        }
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
        self.speech.as_mut().map(|speech| std::mem::take(&mut speech.waiting)).unwrap_or_default()
    }

    fn prompt(&mut self, text: &str) -> bool {
        match &mut self.speech {
            Some(speech) if !speech.over => {
                speech.prompt(text);
                true
            }
            _ => false,
        }
    }

    fn interrupt(&mut self) -> bool {
        match &mut self.speech {
            Some(speech) if !speech.over => {
                speech.interrupts += 1;
                speech.say(&speech::interrupt(speech.interrupts));
                true
            }
            _ => false,
        }
    }

    fn final_text(&self) -> Option<&str> {
        self.final_text.as_deref()
    }

    fn meter(&self) -> Option<Meter> {
        Some(self.account.meter())
    }

    fn failure(&self) -> Option<Failure> {
        self.trouble.clone()
    }
}
