//! From the demo agent's lines to events.

use std::time::Duration;

use fleet_core::event::{AgentEvent, Counted, Stream, Tokens, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use super::stream::DemoLine;
use crate::adapter::{AgentFailure, ContextReading, Decoder};
use crate::common::tool;
use crate::common::words::{self, one_line};

#[derive(Debug, Default)]
pub(super) struct DemoDecoder {
    final_text: Option<String>,
    /// The last failure since the agent last made progress.
    trouble: Option<AgentFailure>,
    context: Option<ContextReading>,
}

impl Decoder for DemoDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let understood = match stream {
            Stream::Out if !cut => serde_json::from_slice(line).ok(),
            _ => None,
        };
        match understood {
            Some(line) => {
                self.remember(&line);
                events(line)
            }
            None => AgentEvent::raw(stream, line, cut).into_iter().collect(),
        }
    }

    fn end(&mut self, _: &AgentExit) -> Vec<AgentEvent> {
        Vec::new()
    }

    fn final_text(&self) -> Option<&str> {
        self.final_text.as_deref()
    }

    fn context(&self) -> Option<ContextReading> {
        self.context
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.trouble.clone()
    }
}

impl DemoDecoder {
    fn remember(&mut self, line: &DemoLine) {
        match line {
            DemoLine::Text { text } | DemoLine::Result { text } => {
                self.final_text = Some(words::last(text));
                self.trouble = None;
            }
            DemoLine::Tool { .. } => self.trouble = None,
            DemoLine::RateLimit { wait_ms } => {
                let until = Some(When::After(Duration::from_millis(*wait_ms)));
                self.trouble =
                    Some(AgentFailure { until, ..AgentFailure::new(Reason::RateLimited, limited(*wait_ms)) });
            }
            DemoLine::Error { reason, text } => {
                self.trouble = Some(AgentFailure::new(*reason, words::trouble(text)));
            }
            DemoLine::Session { .. }
            | DemoLine::Thinking { .. }
            | DemoLine::ToolResult { .. }
            | DemoLine::Question { .. } => {}
            DemoLine::Usage { input, .. } => {
                let tokens = Tokens { input: *input, ..Tokens::default() };
                self.context = ContextReading::of_request(tokens).or(self.context);
            }
        }
    }
}

fn limited(wait_ms: u64) -> String {
    format!("the demo provider wants a pause of {wait_ms} ms")
}

fn events(line: DemoLine) -> Vec<AgentEvent> {
    let event = match line {
        DemoLine::Session { id } => AgentEvent::SessionStarted { session: words::id(&id) },
        DemoLine::Text { text } => AgentEvent::Text { text: words::said(&text) },
        DemoLine::Thinking { text } => AgentEvent::Reasoning { text: words::said(&text) },
        DemoLine::Tool { id, name, input, files } => AgentEvent::ToolCall {
            id: words::id(&id),
            name: one_line(&name),
            summary: one_line(&input),
            files: noted(&files),
        },
        DemoLine::ToolResult { id, ok, output, files } => {
            let (id, summary) = (words::id(&id), words::result(&output));
            AgentEvent::ToolResult { id, ok, summary, files: noted(&files) }
        }
        DemoLine::Usage { input, output, micro_usd } => return usage(input, output, micro_usd),
        DemoLine::RateLimit { wait_ms } => {
            let until = Some(When::After(Duration::from_millis(wait_ms)));
            AgentEvent::RateLimit { until, text: limited(wait_ms) }
        }
        DemoLine::Question { text } => AgentEvent::Question { text: words::trouble(&text) },
        DemoLine::Error { reason, text } => AgentEvent::Error { reason, text: words::trouble(&text) },
        DemoLine::Result { text } => AgentEvent::Ended { text: Some(words::last(&text)) },
    };
    vec![event]
}

fn noted(files: &[String]) -> Vec<String> {
    tool::listed(files.iter().map(String::as_str))
}

fn usage(input: u64, output: u64, micro_usd: u64) -> Vec<AgentEvent> {
    let tokens = Tokens { input, output, ..Tokens::default() };
    let counted = Counted::Delta;
    vec![AgentEvent::Usage { tokens, counted }, AgentEvent::Cost { micro_usd, counted }]
}
