//! From what the agent prints to events in the store: in small batches, each exactly once.
//!
//! A batch names the piece of standard output that it was decoded from; the store takes it only if that piece
//! follows the last one. Whoever goes on after a crash decodes again from there, and nothing is counted twice.

use std::time::Duration;

use fleet_agents::{AgentEvent, Decoder, Failure, Stream, When};
use fleet_core::event::Fact;
use fleet_core::id::RunId;
use fleet_core::limits::dollars;
use fleet_core::outcome::AgentExit;
use fleet_core::policy;
use fleet_core::run::{Meter, Reason, Totals, is_session};
use fleet_core::text::shortened;
use fleet_core::time::Millis;
use fleet_host::lines::{Line, Lines};
use fleet_store::{Store, StoreError, ops};

use super::boundary::Boundary;
use super::tally::{Pricing, Tally};
use crate::agents::PRICE_FILE;
use crate::clock;

/// A longer line is cut: no decoder needs more, and the raw log has the rest.
pub(crate) const LONGEST_LINE: usize = 1024 * 1024;
/// A longer text in an event is cut; the raw log has all of it.
const LONGEST_TEXT: usize = 4 * 1024;
/// The line that lists show.
const LONGEST_ACTIVITY: usize = 200;
/// More events of one run tell nobody anything; they are counted instead, and the raw log has them.
const MOST_EVENTS: usize = 50_000;
/// A store that is out of reach is asked again after this.
const AGAIN: Duration = Duration::from_secs(1);
/// A store that fails in some other way is asked so often.
const ATTEMPTS: u32 = 60;
/// Agents wait as long as this by themselves; a longer wait is what the provider asked for.
const OWN_PATIENCE: Duration = Duration::from_secs(30);
/// So many wait for the store at most; then the agent waits.
pub(super) const FULL: usize = 2_000;

/// What the store has, or is about to have, of what an agent printed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    pub(crate) bytes: u64,
    /// The number of the last batch.
    pub(crate) batch: i64,
}

/// What has been decoded and is not in the store yet.
pub(crate) struct Journal {
    run: RunId,
    fence: i64,
    decoder: Box<dyn Decoder>,
    out: Lines,
    err: Lines,
    /// Where the first line of standard output begins that was not decoded.
    decoded: u64,
    stored: Stored,
    facts: Vec<(Millis, Fact)>,
    kept: usize,
    omitted: u64,
    tally: Tally,
    /// It has used this much at least.
    least: Totals,
    /// What the store knows of that. It is no event, and may come from elsewhere than the output.
    stored_totals: Totals,
    activity: Option<String>,
    session: Option<String>,
    /// The store does not have the session yet. It is no event, and some agents tell it long before anything else.
    is_session_new: bool,
    question: Option<String>,
    /// When the provider lets the account go on, as far as it was told.
    limited_until: Option<Millis>,
    /// When the agent itself would try again what its provider refused.
    tries_at: Option<Millis>,
    /// Where the agent has to stay, and how it did not.
    boundary: Option<Boundary>,
    outside: Option<String>,
    /// Why there is no sense in waiting for the agent.
    hopeless: Option<(Reason, String)>,
    /// Notices that the agent tries a request again, and all other events.
    retries: u64,
    others: u64,
    /// Whether the agent has said that it is through, and nobody has asked it for more since.
    is_over: bool,
    /// Whether anything came from its model, or at least from its provider.
    has_begun: bool,
}

/// What the decoder made of the whole output.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) final_text: Option<String>,
    pub(crate) question: Option<String>,
    pub(crate) failure: Option<Failure>,
    /// When the provider lets the account go on, as far as it was told.
    pub(crate) limited_until: Option<Millis>,
    /// Whether anything came from its model, or at least from its provider.
    pub(crate) has_begun: bool,
}

impl Journal {
    /// For a run of which the store has so much.
    pub(crate) fn new(run: RunId, fence: i64, decoder: Box<dyn Decoder>, stored: Stored) -> Self {
        Self {
            run,
            fence,
            decoder,
            out: Lines::new(LONGEST_LINE),
            err: Lines::new(LONGEST_LINE),
            decoded: 0,
            stored,
            facts: Vec::new(),
            kept: 0,
            omitted: 0,
            tally: Tally::default(),
            least: Totals::default(),
            stored_totals: Totals::default(),
            activity: None,
            session: None,
            is_session_new: false,
            question: None,
            limited_until: None,
            tries_at: None,
            boundary: None,
            outside: None,
            hopeless: None,
            retries: 0,
            others: 0,
            is_over: false,
            has_begun: false,
        }
    }

    /// The same for an agent whose tokens have such a price, as far as it does not tell what they cost.
    pub(crate) fn priced(self, pricing: Pricing) -> Self {
        Self { tally: Tally::new(pricing), ..self }
    }

    /// The same for an agent that has to stay within a boundary.
    pub(crate) fn within(self, boundary: Boundary) -> Self {
        Self { boundary: Some(boundary), ..self }
    }

    /// The same for a process whose output comes after that of another in the log.
    pub(crate) fn behind(mut self, position: u64) -> Self {
        self.skip_to(position, Millis(0));
        self
    }

    pub(crate) const fn stored(&self) -> Stored {
        self.stored
    }

    /// The same for an agent of which is known that it has used this much: whoever reads its log again may not see all
    /// that its keeper saw, because a part of it was not kept, was told on standard error, or cannot be priced any more.
    pub(crate) fn at_least(self, least: Totals) -> Self {
        Self { least, stored_totals: least, ..self }
    }

    /// Notes something that the keeper itself found.
    pub(crate) fn note(&mut self, fact: Fact, now: Millis) {
        self.facts.push((now, fact));
    }

    /// What is to be said to the agent now.
    pub(crate) fn reply(&mut self) -> Vec<u8> {
        self.decoder.reply()
    }

    /// Passes a further prompt on; `false` when this agent takes none while it works.
    pub(crate) fn prompt(&mut self, text: &str) -> bool {
        let is_taken = self.decoder.prompt(text);
        self.is_over &= !is_taken;
        is_taken
    }

    /// How many further prompts the agent is known to have.
    pub(crate) fn taken(&self) -> usize {
        self.decoder.taken()
    }

    /// Whether anything came from its model, or at least from its provider.
    pub(crate) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Asks the agent to stop in its own words, if it has any for that.
    pub(crate) fn interrupt(&mut self) -> bool {
        self.decoder.interrupt()
    }

    /// Whether the agent has said that it is through.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Why there is no sense in waiting for the agent, if there is none.
    pub(crate) fn hopeless(&mut self) -> Option<(Reason, String)> {
        self.hopeless.take()
    }

    /// Takes what the agent printed. `false` says that it only tries again what its provider refuses, which some agents
    /// do for ever: that is no sign of work.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8], now: Millis) -> bool {
        let (retries, others) = (self.retries, self.others);
        self.with_lines(stream, now, |lines, each| lines.push(bytes, each));
        self.retries == retries || self.others != others
    }

    /// Takes a line of the agent's own record of the conversation.
    pub(crate) fn record(&mut self, line: &[u8], now: Millis) {
        for event in self.decoder.record(line) {
            self.event(event, now, true);
        }
    }

    /// The id of the conversation, as soon as the agent has told it.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// At what price money is counted because nobody knows that of the model, in a sentence.
    pub(crate) fn guess(&self) -> Option<String> {
        let (price, model) = self.tally.guess()?;
        let (input, output) = (dollars(price.input), dollars(price.output));
        let model = model.map_or_else(|| "its default model".to_owned(), |model| format!("`{model}`"));
        Some(format!(
            "the price of {model} is not known, so its tokens are counted at the highest known price, {input} USD in \
             and {output} USD out for a million"
        ))
    }

    /// How money is counted at the right price, for the user of this agent.
    pub(crate) fn guess_remedy(&self, agent: &str) -> Option<String> {
        let (_, model) = self.tally.guess()?;
        Some(match model {
            Some(_) => format!("set its price in {PRICE_FILE}"),
            None => format!(
                "name a model (`--model`, or `agents.{agent}.model`), and set the price of that in {PRICE_FILE}"
            ),
        })
    }

    /// The log has left out what stood before this byte of standard output.
    pub(crate) fn skip_to(&mut self, offset: u64, now: Millis) {
        self.with_lines(Stream::Out, now, |lines, each| lines.skip_to(offset, each));
    }

    /// The pipe was closed: what is left is a line, too.
    pub(crate) fn close(&mut self, stream: Stream, now: Millis) {
        self.with_lines(stream, now, |lines, each| lines.finish(each));
    }

    fn with_lines(
        &mut self,
        stream: Stream,
        now: Millis,
        feed: impl FnOnce(&mut Lines, &mut dyn FnMut(Line<'_>)),
    ) {
        let place = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        let mut lines = std::mem::replace(place, Lines::new(0));
        feed(&mut lines, &mut |line| self.line(stream, &line, now));
        if stream == Stream::Out {
            self.decoded = self.decoded.max(lines.line_start());
            self.out = lines;
        } else {
            self.err = lines;
        }
    }

    /// The agent ended.
    pub(crate) fn end(&mut self, exit: &AgentExit, now: Millis) -> Heard {
        for event in self.decoder.end(exit) {
            self.event(event, now, true);
        }
        let outside = self.outside.take().map(|text| Failure::new(Reason::OutsideWorkspace, text));
        let failure = outside.or_else(|| self.decoder.failure());
        let told = failure.as_ref().and_then(|failure| failure.until).map(|until| moment(until, now));
        // One that was stopped while it waited knows how long its provider wants to be left alone.
        let is_limit = failure.as_ref().is_some_and(|failure| policy::blames_account(failure.reason));
        let waits = self.tries_at.filter(|_| is_limit);
        Heard {
            final_text: self.decoder.final_text().map(ToOwned::to_owned),
            question: self.question.take(),
            limited_until: told.or(self.limited_until).or(waits),
            failure,
            has_begun: self.has_begun,
        }
    }

    /// What the agent has used so far.
    pub(crate) fn totals(&self) -> Totals {
        let (told, least) = (self.tally.totals(), self.least);
        Totals {
            input_tokens: told.input_tokens.max(least.input_tokens),
            output_tokens: told.output_tokens.max(least.output_tokens),
            micro_usd: told.micro_usd.max(least.micro_usd),
        }
    }

    /// Whether so much waits for the store that the agent has to wait, too.
    pub(crate) fn is_full(&self) -> bool {
        self.facts.len() >= FULL
    }

    /// Whether there is anything to store.
    pub(crate) fn is_empty(&self) -> bool {
        let is_told = !self.is_session_new && self.totals() == self.stored_totals;
        self.facts.is_empty() && self.decoded <= self.stored.bytes && is_told
    }

    fn line(&mut self, stream: Stream, line: &Line<'_>, now: Millis) {
        // A line that the store has already only tells the decoder where it is.
        let is_new = stream == Stream::Err || line.offset >= self.stored.bytes;
        for event in self.decoder.line(stream, line.bytes, line.cut) {
            self.event(event, now, is_new);
        }
    }

    fn event(&mut self, event: AgentEvent, now: Millis, is_new: bool) {
        self.tally.count(&event);
        if matches!(event, AgentEvent::Retry { .. }) {
            self.retries += 1;
        } else {
            self.others += 1;
        }
        match &event {
            AgentEvent::SessionStarted { session } if is_session(session) => {
                self.is_session_new |= self.session.as_ref() != Some(session);
                self.session = Some(session.clone());
            }
            AgentEvent::Question { text } => self.question = Some(text.clone()),
            AgentEvent::RateLimit { until: Some(until), .. } => {
                self.limited_until = Some(moment(*until, now));
            }
            AgentEvent::Error { reason, text } if reason.is_hopeless() => {
                self.hopeless.get_or_insert((*reason, text.clone()));
            }
            AgentEvent::Ended { .. } => self.is_over = true,
            AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::ToolCall { .. } => {
                (self.is_over, self.has_begun) = (false, true);
            }
            AgentEvent::Retry { wait, .. } => {
                self.tries_at = wait.filter(|wait| *wait > OWN_PATIENCE).map(|wait| now.plus(wait));
                self.has_begun = true;
            }
            AgentEvent::RateLimit { .. } => self.has_begun = true,
            _ => {}
        }
        if let Some(text) = self.boundary.as_mut().and_then(|boundary| boundary.crossed(&event)) {
            let reason = Reason::OutsideWorkspace;
            self.facts.push((now, Fact::RunError { reason: Some(reason), text: text.clone() }));
            self.hopeless = Some((reason, text.clone()));
            self.outside.get_or_insert(text);
        }
        if let Some(activity) = activity(&event) {
            self.activity = Some(shortened(activity, LONGEST_ACTIVITY).into_owned());
        }
        let Some(fact) = fact(event, now).filter(|_| is_new) else { return };
        if self.kept >= MOST_EVENTS {
            self.omitted += 1;
            return;
        }
        self.kept += 1;
        self.facts.push((now, fact));
    }

    /// A batch for the store. What is taken out has to be stored, or the run is lost.
    pub(crate) fn batch(&mut self, now: Millis) -> ops::AppendRunEvents {
        let omitted = std::mem::take(&mut self.omitted);
        if omitted > 0 {
            self.facts.push((now, Fact::RunOmitted { count: omitted }));
        }
        let from = self.stored.bytes;
        self.stored = Stored { bytes: self.decoded.max(from), batch: self.stored.batch + 1 };
        self.is_session_new = false;
        self.stored_totals = self.totals();
        ops::AppendRunEvents {
            run: self.run,
            fence: self.fence,
            from: signed(from),
            to: signed(self.stored.bytes),
            batch: self.stored.batch,
            facts: std::mem::take(&mut self.facts),
            usage: Some(self.stored_totals),
            activity: self.activity.take(),
            session: self.session.clone(),
            now,
            meter: self.decoder.meter().map(Meter::from),
        }
    }
}

/// Stores a batch, and tries again as long as that can help. A batch that is given up leaves a gap, behind which the
/// store takes no more: so only a lost run gives up at once.
pub(crate) async fn store(store: Store, batch: ops::AppendRunEvents) -> Result<(), StoreError> {
    let mut left = ATTEMPTS;
    loop {
        let Err(error) = store.call(batch.clone()).await else { return Ok(()) };
        let is_final = matches!(
            error,
            StoreError::LeaseLost { .. } | StoreError::RunNotFound(_) | StoreError::OutOfStep { .. }
        );
        left -= u32::from(!error.is_temporary());
        if is_final || left == 0 {
            return Err(error);
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn signed(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}

/// What was told of a moment, heard now.
fn moment(when: When, now: Millis) -> Millis {
    match when {
        When::At(at) => at,
        When::After(span) => now.plus(span),
        // A day that no calendar has is no moment: then it is worth a try at once.
        When::Local(time) => clock::moment_of(time, now).unwrap_or(now),
    }
}

/// The line that `fleet list` shows.
fn activity(event: &AgentEvent) -> Option<&str> {
    match event {
        AgentEvent::Text { text } | AgentEvent::Raw { text, .. } => {
            text.lines().rev().find(|line| !line.trim().is_empty())
        }
        AgentEvent::ToolCall { input_summary, .. } => Some(input_summary),
        AgentEvent::Error { text, .. }
        | AgentEvent::Warning { text }
        | AgentEvent::RateLimit { text, .. }
        | AgentEvent::Retry { text, .. } => Some(text),
        _ => None,
    }
}

/// What of an event is worth keeping.
fn fact(event: AgentEvent, now: Millis) -> Option<Fact> {
    let short = |text: String| shortened(&text, LONGEST_TEXT).into_owned();
    Some(match event {
        AgentEvent::Text { text } => Fact::RunSaid { text: short(text) },
        AgentEvent::Reasoning { text } => Fact::RunThought { text: short(text) },
        AgentEvent::ToolCall { name, input_summary, files, .. } => {
            Fact::RunUsedTool { name: short(name), summary: short(input_summary), files }
        }
        AgentEvent::Error { reason, text } => Fact::RunError { reason: Some(reason), text: short(text) },
        AgentEvent::Warning { text } => Fact::RunWarned { text: short(text) },
        AgentEvent::RateLimit { until, text } => {
            Fact::RunLimited { until: until.map(|until| moment(until, now)), text: short(text) }
        }
        AgentEvent::Retry { attempt, wait, text } => {
            let wait_ms = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            Fact::RunRetrying { attempt, wait_ms, text: short(text) }
        }
        AgentEvent::Denied { tool, text } => Fact::RunDenied { tool: short(tool), text: short(text) },
        AgentEvent::Raw { text, .. } => Fact::RunRaw { text: short(text) },
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
