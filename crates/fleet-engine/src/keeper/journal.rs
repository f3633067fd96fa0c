//! From what the agent prints to events in the store: in small batches, each exactly once.
//!
//! A batch names the piece of standard output that it was decoded from; the store takes it only if that piece
//! follows the last one. Whoever goes on after a crash decodes again from there, and nothing is counted twice.

use std::time::Duration;

use fleet_agents::{AgentEvent, Decoder, Failure, Price, Stream, When};
use fleet_core::event::Fact;
use fleet_core::id::RunId;
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason, Totals, is_session};
use fleet_core::text::shortened;
use fleet_core::time::Millis;
use fleet_host::lines::{Line, Lines};
use fleet_store::{Store, StoreError, ops};

use super::tally::Tally;

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
/// So many wait for the store at most; then the agent waits.
pub(super) const FULL: usize = 2_000;

/// What has been decoded and is not in the store yet.
pub(crate) struct Journal {
    run: RunId,
    fence: i64,
    decoder: Box<dyn Decoder>,
    out: Lines,
    err: Lines,
    /// Where the first line of standard output begins that was not decoded.
    decoded: u64,
    /// What the store has.
    stored: u64,
    facts: Vec<(Millis, Fact)>,
    kept: usize,
    omitted: u64,
    tally: Tally,
    /// It has used this much at least.
    least: Totals,
    activity: Option<String>,
    session: Option<String>,
    /// The store does not have the session yet. It is no event, and some agents tell it long before anything else.
    is_session_new: bool,
    question: Option<String>,
    /// When the provider lets the account go on, as far as it was told.
    limited_until: Option<Millis>,
    /// Why there is no sense in waiting for the agent.
    hopeless: Option<(Reason, String)>,
    /// Notices that the agent tries a request again, and all other events.
    retries: u64,
    others: u64,
    /// Whether the agent has said that it is through, and nobody has asked it for more since.
    is_over: bool,
}

/// What the decoder made of the whole output.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) final_text: Option<String>,
    pub(crate) question: Option<String>,
    pub(crate) failure: Option<Failure>,
    /// When the provider lets the account go on, as far as it was told.
    pub(crate) limited_until: Option<Millis>,
}

impl Journal {
    /// For a run of which the store has the events up to `stored`.
    pub(crate) fn new(run: RunId, fence: i64, decoder: Box<dyn Decoder>, stored: u64) -> Self {
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
            activity: None,
            session: None,
            is_session_new: false,
            question: None,
            limited_until: None,
            hopeless: None,
            retries: 0,
            others: 0,
            is_over: false,
        }
    }

    /// The same for an agent whose tokens have this price, if it does not tell what it costs.
    pub(crate) fn priced(self, price: Option<Price>) -> Self {
        Self { tally: Tally::new(price), ..self }
    }

    /// The same for an agent of which is known that it has used this much: whoever reads its log again may not see all
    /// that its keeper saw, because a part of it was not kept, was told on standard error, or cannot be priced any more.
    pub(crate) fn at_least(self, least: Totals) -> Self {
        Self { least, ..self }
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
        let failure = self.decoder.failure();
        let told = failure.as_ref().and_then(|failure| failure.until).map(|until| moment(until, now));
        Heard {
            final_text: self.decoder.final_text().map(ToOwned::to_owned),
            question: self.question.take(),
            limited_until: told.or(self.limited_until),
            failure,
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
        self.facts.is_empty() && self.decoded <= self.stored && !self.is_session_new
    }

    fn line(&mut self, stream: Stream, line: &Line<'_>, now: Millis) {
        // A line that the store has already only tells the decoder where it is.
        let is_new = stream == Stream::Err || line.offset >= self.stored;
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
                self.is_over = false;
            }
            _ => {}
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
        let from = self.stored;
        self.stored = self.decoded.max(from);
        self.is_session_new = false;
        ops::AppendRunEvents {
            run: self.run,
            fence: self.fence,
            from: signed(from),
            to: signed(self.stored),
            facts: std::mem::take(&mut self.facts),
            usage: Some(self.totals()),
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
mod tests {
    use std::path::Path;

    use fleet_agents::{Brief, Registry};

    use super::*;

    /// An agent that was told to stop before it said anything else can be resumed all the same.
    #[test]
    fn a_session_is_worth_storing_by_itself() {
        let agents = Registry::default();
        let decoder = agents.find("opencode").unwrap().decoder(&Brief::plain("", Path::new("/")));
        let mut journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, 0);
        assert!(journal.is_empty());
        let created =
            "timestamp=2026-11-15T16:52:54Z level=INFO run=5 message=created id=ses_1 slug=a version=1\n";
        journal.push(Stream::Err, created.as_bytes(), Millis(1));
        assert!(!journal.is_empty());
        let batch = journal.batch(Millis(1));
        assert_eq!((batch.session.as_deref(), batch.facts.len()), (Some("ses_1"), 0));
        journal.push(Stream::Err, created.as_bytes(), Millis(2));
        assert!(journal.is_empty(), "once is enough");
    }

    /// A sum that shrinks would give back what was spent.
    #[test]
    fn what_was_used_does_not_become_less_when_a_log_is_read_again() {
        let decoder = Registry::default().find("demo").unwrap().decoder(&Brief::plain("", Path::new("/")));
        let known = Totals { input_tokens: 900, output_tokens: 10, micro_usd: 4_000 };
        let journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, 0);
        let mut journal = journal.at_least(known);
        assert_eq!(journal.batch(Millis(1)).usage, Some(known));
        let line = "{\"type\":\"usage\",\"input\":500,\"output\":20,\"micro_usd\":5000}\n";
        journal.push(Stream::Out, line.as_bytes(), Millis(1));
        let usage = Totals { input_tokens: 900, output_tokens: 20, micro_usd: 5_000 };
        assert_eq!(journal.batch(Millis(2)).usage, Some(usage));
    }

    /// It would be an argument of the next run.
    #[test]
    fn an_option_is_not_stored_as_a_session() {
        let agents = Registry::default();
        let decoder = agents.find("codex").unwrap().decoder(&Brief::plain("", Path::new("/")));
        let mut journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, 0);
        for session in ["--dangerously-bypass-approvals-and-sandbox", "a\\nb", "-c x=y"] {
            let line = format!("{{\"type\":\"thread.started\",\"thread_id\":\"{session}\"}}\n");
            journal.push(Stream::Out, line.as_bytes(), Millis(1));
        }
        assert_eq!(journal.batch(Millis(1)).session, None);
        journal.push(Stream::Out, b"{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n", Millis(1));
        assert_eq!(journal.batch(Millis(1)).session.as_deref(), Some("t-1"));
    }
}
