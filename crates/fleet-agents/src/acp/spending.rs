//! Tokens and money, as the agents count them.

use agent_client_protocol_schema::v1::{Cost, Meta, PromptResponse, Usage};
use fleet_core::event::{AgentEvent, Counted, Tokens};
use fleet_core::run::Meter;
use serde_json::Value;

use crate::adapter::ContextReading;
use crate::common::amount::micro_usd;
use crate::common::json::number;

/// The money of a conversation, which agents count from its very beginning, and the tokens of its turns.
#[derive(Debug)]
pub(super) struct ConversationCost {
    /// Whether the tokens of this turn were reported with its pieces.
    is_told: bool,
    /// What the conversation had cost before this process.
    before: u64,
    now: Option<u64>,
    context: Option<ContextReading>,
}

impl ConversationCost {
    pub(super) fn new(meter: Meter) -> Self {
        Self { is_told: false, before: meter.micro_usd, now: None, context: None }
    }

    /// The agent says what the conversation has cost so far.
    pub(super) fn cost(&mut self, cost: &Cost) -> Option<AgentEvent> {
        let amount = micro_usd(cost.amount).filter(|_| cost.currency.eq_ignore_ascii_case("usd"))?;
        // An agent that restarts its count in each process begins below.
        if self.now.is_none() && amount < self.before {
            self.before = 0;
        }
        if self.now == Some(amount) || (self.now.is_none() && amount == 0) {
            return None;
        }
        self.now = Some(amount);
        self.event()
    }

    /// The agent says how full the conversation is.
    pub(super) fn context_update(&mut self, used: u64, size: u64) {
        let limit = Some(size).filter(|size| *size > 0);
        self.context = (used > 0).then_some(ContextReading { tokens: used, limit }).or(self.context);
    }

    pub(super) const fn context(&self) -> Option<ContextReading> {
        self.context
    }

    /// What this process has cost, as the agent reports it.
    fn event(&self) -> Option<AgentEvent> {
        let micro_usd = self.now?.saturating_sub(self.before);
        Some(AgentEvent::Cost { micro_usd, counted: Counted::Total })
    }

    pub(super) fn meter(&self) -> Option<Meter> {
        self.now.map(|micro_usd| Meter { micro_usd, ..Meter::default() })
    }

    /// The tokens of one request, which Qwen Code tells beside a piece of the answer.
    pub(super) fn of_request(&mut self, meta: Option<&Meta>) -> Option<AgentEvent> {
        let usage: Usage = serde_json::from_value(meta?.get("usage")?.clone()).ok()?;
        self.is_told = true;
        self.context = ContextReading::of_request(tokens(&usage)).or(self.context);
        used(tokens(&usage))
    }

    /// The tokens of one turn, and the cost of all tokens so far: the money may have been told before them.
    pub(super) fn of_turn(&mut self, response: &PromptResponse) -> Vec<AgentEvent> {
        if std::mem::take(&mut self.is_told) {
            return Vec::new();
        }
        let quota = || response.meta.as_ref().and_then(|meta| meta.get("quota")).and_then(quota);
        let used = response.usage.as_ref().map(tokens).or_else(quota).and_then(used);
        let told = used.as_ref().and_then(|_| self.event());
        used.into_iter().chain(told).collect()
    }
}

fn used(tokens: Tokens) -> Option<AgentEvent> {
    (tokens != Tokens::default()).then_some(AgentEvent::Usage { tokens, counted: Counted::Delta })
}

/// Some count cached tokens as input and thoughts as output, others beside; the sum tells which.
fn tokens(usage: &Usage) -> Tokens {
    let [thought, read, written] =
        [usage.thought_tokens, usage.cached_read_tokens, usage.cached_write_tokens]
            .map(Option::unwrap_or_default);
    let (mut input, mut output) = (usage.input_tokens, usage.output_tokens);
    if usage.total_tokens == input.saturating_add(output) {
        input = input.saturating_sub(read).saturating_sub(written);
    } else {
        output = output.saturating_add(thought);
    }
    Tokens { input, output, cache_read: read, cache_write: written }
}

/// What Gemini reports instead.
fn quota(quota: &Value) -> Option<Tokens> {
    let input = number(&quota["token_count"], "input_tokens")?;
    let output = number(&quota["token_count"], "output_tokens")?;
    Some(Tokens { input, output, ..Tokens::default() })
}
