//! From what the agent prints to events in the store: in small batches, each exactly once.
//!
//! A batch names the piece of standard output that it was decoded from; the store takes it only if that piece follows
//! the last one. After a crash decoding resumes from there, and nothing is counted twice.

mod status;

use std::time::Duration;

use fleet_agents::{AgentEvent, AgentFailure, ContextReading, Decoder, PermissionAnswer, Stream};
use fleet_core::event::Fact;
use fleet_core::id::RunId;
use fleet_core::outcome::AgentExit;
use fleet_core::run::{AgentState, ContextUse, Reason, Totals};
use fleet_core::text::shortened;
use fleet_core::time::Millis;
use fleet_host::lines::{Line, LineSplitter};
use fleet_store::{Store, StoreError, ops};

use self::status::{JournalStatus, moment};
use super::boundary::Boundary;
use super::tally::{Pricing, UsageTally};
use crate::agents::ContextSizes;

/// A longer line is cut: no decoder needs more, and the raw log has the rest.
pub(crate) const LONGEST_LINE: usize = 1024 * 1024;
/// The line that lists show.
const LONGEST_ACTIVITY: usize = 200;
/// More events of one run are only counted; the raw log has them.
const MAX_EVENTS: usize = 50_000;
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How often a store is tried that fails in another way than by being out of reach.
const MAX_STORE_FAILURES: u32 = 60;
/// When this many events wait for the store, the agent waits, too.
pub(super) const FULL: usize = 2_000;

/// What the store has, or is about to have, of what an agent printed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    pub(crate) bytes: u64,
    pub(crate) batch: i64,
}

/// What has been decoded and is not in the store yet.
pub(crate) struct Journal {
    run: RunId,
    attempt: i64,
    decoder: Box<dyn Decoder>,
    out: LineSplitter,
    err: LineSplitter,
    /// Where the first line of standard output begins that was not decoded.
    decoded: u64,
    stored: Stored,
    facts: Vec<(Millis, Fact)>,
    kept: usize,
    omitted: u64,
    tally: UsageTally,
    /// A lower bound of what it used.
    least: Totals,
    /// What the store knows of that. It is not an event, and need not come from the output.
    stored_totals: Totals,
    activity: Option<String>,
    status: JournalStatus,
    /// Where the agent has to stay, and how it did not.
    boundary: Option<Boundary>,
    outside: Option<String>,
}

/// What the decoder made of the whole output.
#[derive(Debug, Default)]
pub(crate) struct DecodedOutput {
    pub(crate) final_text: Option<String>,
    pub(crate) question: Option<String>,
    pub(crate) failure: Option<AgentFailure>,
    /// When the provider's limit on the account ends, as far as the agent said so.
    pub(crate) limited_until: Option<Millis>,
    /// Whether anything came from its model, or at least from its provider.
    pub(crate) has_begun: bool,
}

impl Journal {
    /// For a run whose events the store has up to here.
    pub(crate) fn new(run: RunId, attempt: i64, decoder: Box<dyn Decoder>, stored: Stored) -> Self {
        Self {
            run,
            attempt,
            decoder,
            out: LineSplitter::new(LONGEST_LINE),
            err: LineSplitter::new(LONGEST_LINE),
            decoded: 0,
            stored,
            facts: Vec::new(),
            kept: 0,
            omitted: 0,
            tally: UsageTally::default(),
            least: Totals::default(),
            stored_totals: Totals::default(),
            activity: None,
            status: JournalStatus::default(),
            boundary: None,
            outside: None,
        }
    }

    /// The same for an agent whose tokens have such a price, as far as it does not tell what they cost.
    pub(crate) fn priced(self, pricing: Pricing) -> Self {
        Self { tally: UsageTally::new(pricing), ..self }
    }

    /// The same for an agent that has to stay within a boundary.
    pub(crate) fn within(self, boundary: Boundary) -> Self {
        Self { boundary: Some(boundary), ..self }
    }

    /// The same for a process whose output comes after that of another in the log.
    pub(crate) fn after_position(mut self, position: u64) -> Self {
        self.skip_to(position, Millis(0));
        self
    }

    pub(crate) const fn stored(&self) -> Stored {
        self.stored
    }

    /// The same for an agent that is known to have used this much: a second reading of its log may not see all that its
    /// keeper saw, because a part of it was not kept, came on standard error, or cannot be priced any more.
    pub(crate) fn at_least(self, least: Totals) -> Self {
        Self { least, stored_totals: least, ..self }
    }

    pub(crate) fn warn(&mut self, text: String, now: Millis) {
        self.facts.push((now, Fact::warning(text)));
    }

    /// What is to be said to the agent now.
    pub(crate) fn reply(&mut self) -> Vec<u8> {
        self.decoder.reply()
    }

    /// Passes a further prompt on; `false` when this agent takes none while it works.
    pub(crate) fn prompt(&mut self, text: &str) -> bool {
        let is_taken = self.decoder.prompt(text);
        self.status.is_over &= !is_taken;
        is_taken
    }

    /// How many further prompts the agent is known to have.
    pub(crate) fn taken(&self) -> usize {
        self.decoder.taken()
    }

    /// Whether anything came from its model, or at least from its provider.
    pub(crate) const fn has_begun(&self) -> bool {
        self.status.has_begun
    }

    /// Takes what a hook of an agent in a terminal was called with.
    pub(crate) fn hook(&mut self, payload: &[u8], now: Millis) {
        for event in self.decoder.hook(payload) {
            self.event(event, now, true);
        }
    }

    /// Takes the lines of an agent's screen.
    pub(crate) fn screen(&mut self, lines: &[String], now: Millis) {
        for event in self.decoder.screen(lines) {
            self.event(event, now, true);
        }
    }

    /// What to type into the dialog on the screen.
    pub(crate) fn permission_keys(&self, answer: PermissionAnswer, lines: &[String]) -> Option<Vec<u8>> {
        self.decoder.permission_keys(answer, lines)
    }

    /// Whether the screen shows a dialog that waits for a person.
    pub(crate) fn shows_dialog(&self, lines: &[String]) -> bool {
        self.decoder.shows_dialog(lines)
    }

    /// Whether an agent in a terminal tells of every prompt that it gets.
    pub(crate) fn tells_prompts(&self) -> bool {
        self.decoder.tells_prompts()
    }

    /// Whether the screen is known to show an input without text.
    pub(crate) fn shows_empty_input(&self, lines: &[String]) -> bool {
        self.decoder.shows_empty_input(lines)
    }

    /// What to type into a dialog at the start of an agent in a terminal.
    pub(crate) fn start_keys(&self, lines: &[String]) -> Option<Vec<u8>> {
        self.decoder.start_keys(lines)
    }

    /// What an agent in a terminal does, and the prompts that it has told of since the last time.
    pub(crate) fn terminal_news(&mut self) -> (Option<AgentState>, Vec<String>) {
        (self.status.agent_state(), std::mem::take(&mut self.status.prompted))
    }

    /// Asks the agent to stop in its own words, if it has any for that.
    pub(crate) fn interrupt(&mut self) -> bool {
        self.decoder.interrupt()
    }

    /// Whether the agent has said that it is through.
    pub(crate) const fn is_over(&self) -> bool {
        self.status.is_over
    }

    /// Why waiting for the agent makes no sense, if it does not.
    pub(crate) fn hopeless(&mut self) -> Option<(Reason, String)> {
        self.status.hopeless.take()
    }

    /// Takes what the agent printed. `false` says that it only tries again what its provider refuses, which some agents
    /// do forever: that does not count as work.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8], now: Millis) -> bool {
        let (retries, others) = (self.status.retries, self.status.others);
        self.with_lines(stream, now, |lines, each| lines.push(bytes, each));
        self.status.retries == retries || self.status.others != others
    }

    /// Takes a line of the agent's own record of the conversation.
    pub(crate) fn record(&mut self, line: &[u8], now: Millis) {
        for event in self.decoder.record(line) {
            self.event(event, now, true);
        }
    }

    /// The id of the conversation, as soon as the agent has told it.
    pub(crate) fn session(&self) -> Option<&str> {
        self.status.session.as_deref()
    }

    /// How full the conversation is, if that and the size of the model's context are known.
    pub(crate) fn context(&self, sizes: &ContextSizes) -> Option<ContextUse> {
        let ContextReading { tokens, limit } = self.decoder.context()?;
        sizes.find(limit, self.tally.model()).map(|limit| ContextUse { tokens, limit })
    }

    /// At what price money is counted because the price of the model is unknown, in a sentence.
    pub(crate) fn guess(&self) -> Option<String> {
        self.tally.guess_notice()
    }

    /// How the user of this agent gets money counted at the right price.
    pub(crate) fn guess_remedy(&self, agent: &str) -> Option<String> {
        self.tally.guess_remedy(agent)
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
        feed: impl FnOnce(&mut LineSplitter, &mut dyn FnMut(Line<'_>)),
    ) {
        let place = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        let mut lines = std::mem::replace(place, LineSplitter::new(0));
        feed(&mut lines, &mut |line| self.line(stream, &line, now));
        if stream == Stream::Out {
            self.decoded = self.decoded.max(lines.line_start());
            self.out = lines;
        } else {
            self.err = lines;
        }
    }

    pub(crate) fn end(&mut self, exit: &AgentExit, now: Millis) -> DecodedOutput {
        for event in self.decoder.end(exit) {
            self.event(event, now, true);
        }
        let outside = self.outside.take().map(|text| AgentFailure::new(Reason::OutsideWorkspace, text));
        let failure = outside.or_else(|| self.decoder.failure());
        DecodedOutput {
            final_text: self.decoder.final_text().map(ToOwned::to_owned),
            question: self.status.question.take(),
            limited_until: self.status.limited_until(failure.as_ref(), now),
            failure,
            has_begun: self.status.has_begun || self.status.agent_state().is_some(),
        }
    }

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

    pub(crate) fn is_empty(&self) -> bool {
        let is_told = !self.status.is_session_new && self.totals() == self.stored_totals;
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
        if self.status.is_known(&event) {
            return;
        }
        self.tally.count(&event);
        self.status.observe(&event, now);
        if let Some(text) = self.boundary.as_mut().and_then(|boundary| boundary.step_outside(&event)) {
            let reason = Reason::OutsideWorkspace;
            self.facts.push((now, Fact::Agent(AgentEvent::Error { reason, text: text.clone() })));
            self.status.hopeless = Some((reason, text.clone()));
            self.outside.get_or_insert(text);
        }
        if let Some(activity) = event.headline() {
            self.activity = Some(shortened(activity, LONGEST_ACTIVITY).into_owned());
        }
        let Some(fact) = event.fact(|when| moment(when, now)).filter(|_| is_new) else { return };
        if self.kept >= MAX_EVENTS {
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
        self.status.is_session_new = false;
        self.stored_totals = self.totals();
        ops::AppendRunEvents {
            run: self.run,
            attempt: self.attempt,
            from: signed(from),
            to: signed(self.stored.bytes),
            batch: self.stored.batch,
            facts: std::mem::take(&mut self.facts),
            usage: Some(self.stored_totals),
            activity: self.activity.take(),
            session: self.status.session.clone(),
            now,
            meter: self.decoder.meter(),
        }
    }
}

/// Stores a batch, and tries again as long as that can help. A batch that is given up leaves a gap, behind which the
/// store takes no more: so only a lost run gives up at once.
pub(crate) async fn store(store: Store, batch: ops::AppendRunEvents) -> Result<(), StoreError> {
    let mut left = MAX_STORE_FAILURES;
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
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

fn signed(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
