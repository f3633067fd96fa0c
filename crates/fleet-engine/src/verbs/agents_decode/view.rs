//! Events of agents, as they are shown.

use std::time::Duration;

use fleet_agents::{AgentEvent, Counted, Stream, Tokens, When};
use fleet_api::Moment;
use fleet_api::verbs::agents_decode::{CountedView, EventView, StreamView, TokensView, WhenView};

pub(super) const fn tokens(tokens: Tokens) -> TokensView {
    let Tokens { input, output, cache_read, cache_write } = tokens;
    TokensView { input, output, cache_read, cache_write }
}

pub(super) fn when(when: When) -> WhenView {
    match when {
        When::At(at) => WhenView::At(Moment(at)),
        When::After(span) => WhenView::AfterMs(millis(span)),
        When::Local(time) => WhenView::Local(time.to_string()),
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

const fn counted(counted: Counted) -> CountedView {
    match counted {
        Counted::Delta => CountedView::Delta,
        Counted::Total => CountedView::Total,
    }
}

pub(super) fn event(event: &AgentEvent) -> EventView {
    match event.clone() {
        AgentEvent::SessionStarted { session } => EventView::Session { session },
        AgentEvent::WorksIn { directory } => EventView::WorksIn { directory },
        AgentEvent::Model { model } => EventView::Model { model },
        AgentEvent::Text { text } => EventView::Text { text },
        AgentEvent::Reasoning { text } => EventView::Reasoning { text },
        AgentEvent::ToolCall { id, name, input_summary, files } => {
            EventView::ToolCall { id, name, input: input_summary, files }
        }
        AgentEvent::ToolResult { id, ok, summary, files } => EventView::ToolResult { id, ok, summary, files },
        AgentEvent::Usage { tokens, counted: of } => {
            EventView::Usage { tokens: self::tokens(tokens), counted: counted(of) }
        }
        AgentEvent::Cost { micro_usd, counted: of } => EventView::Cost { micro_usd, counted: counted(of) },
        AgentEvent::RateLimit { until, text } => EventView::RateLimit { until: until.map(when), text },
        AgentEvent::Retry { attempt, wait, text } => {
            EventView::Retry { attempt, wait_ms: wait.map(millis), text }
        }
        AgentEvent::Denied { tool, text } => EventView::Denied { tool, text },
        AgentEvent::Error { reason, text } => EventView::Error { reason, text },
        AgentEvent::Warning { text } => EventView::Warning { text },
        AgentEvent::Question { text } => EventView::Question { text },
        AgentEvent::Ended { text } => EventView::Ended { text },
        AgentEvent::Raw { stream, text, cut } => {
            let stream = if stream == Stream::Out { StreamView::Stdout } else { StreamView::Stderr };
            EventView::Raw { stream, text, cut }
        }
    }
}
