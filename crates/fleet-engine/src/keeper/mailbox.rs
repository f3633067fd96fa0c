//! The mailbox of a run: takes the messages that wait for its agent, delivers them in their order, and leaves a receipt for
//! each step.
//!
//! Two channels lead to an agent: the text that starts it, and its structured input while it works. What neither can take
//! now stays for the next run, and so does what was delivered and never seen: an agent may be told the same twice, but
//! never too little.

use std::path::PathBuf;

use fleet_core::id::{RunId, TaskId};
use fleet_core::message::{Channel, Message, Receipt};
use fleet_core::run::{Run, RunState};
use fleet_store::{Op, Store, StoreError, ops};
use tokio::task::JoinHandle;

use super::talk::Talk;
use super::{Keeper, RETRY_DELAY, blocking};
use crate::clock;
use crate::home::write_beside_agent;

/// At most this many of the newest messages are told again to a conversation that does not have them.
const MAX_MESSAGES: i64 = 40;
/// A message of more bytes goes into a file, and the agent gets its path: agents read their input by lines, and models have
/// little room.
const LONGEST_INLINE: usize = 256 << 10;
/// The messages in the text that starts an agent have together at most this many bytes; further ones go into files.
const START_ROOM: usize = 1 << 20;

/// A message as its agent gets it.
pub(super) struct ReadyMessage {
    pub(super) seq: i64,
    pub(super) text: String,
}

pub(super) struct Mailbox {
    store: Store,
    task: TaskId,
    run: RunId,
    attempt: i64,
    /// Where long messages go.
    files: LongMessages,
    /// The number of the last message that was delivered.
    last: i64,
    /// Those in the text that started the agent, until it has shown that it has them.
    started_with: Vec<i64>,
    /// Those that were given to its input, and how many of them it has shown to have.
    given: Vec<i64>,
    seen: usize,
    /// Receipts on their way to the store, each after those before it.
    recording: Option<JoinHandle<()>>,
}

impl Mailbox {
    pub(super) fn new(keeper: &Keeper<'_>) -> Self {
        Self {
            store: keeper.store.clone(),
            task: keeper.task.id,
            run: keeper.run.id,
            attempt: keeper.run.attempt,
            files: LongMessages { dir: keeper.folder.scratch().join("messages") },
            last: 0,
            started_with: Vec::new(),
            given: Vec::new(),
            seen: 0,
            recording: None,
        }
    }

    /// What the agent does not know in this conversation, oldest first, each with its introduction. Without it the agent
    /// need not start: it may be all that this run is for.
    pub(super) async fn open(&mut self, talk: &Talk, before: &[Run]) -> Result<Vec<String>, String> {
        let unknown = |error: StoreError| format!("what people said to it: {error}");
        let known = ops::TaskMessages { task: self.task, limit: MAX_MESSAGES };
        let known = self.store.call(known).await.map_err(unknown)?;
        // Looking is cheaper than taking, and mostly there is nothing.
        let is_news = known.iter().any(|message| message.receipts.seen.is_none());
        let (mut room, mut texts) = (START_ROOM, Vec::new());
        for message in known.iter().filter(|message| is_told_again(message, talk, before)) {
            let whole = self.whole(message).await.map_err(unknown)?;
            texts.push(self.files.starting(message, &whole, &mut room)?);
        }
        let mut may_be_more = is_news;
        while may_be_more {
            let news = self.store.call(self.next_batch(Channel::Start)).await.map_err(unknown)?;
            may_be_more = !news.is_empty();
            for message in &news {
                self.last = message.id.seq;
                self.started_with.push(message.id.seq);
                texts.push(self.files.starting(message, message.text.as_str(), &mut room)?);
            }
        }
        texts.sort_by_key(|ready| ready.seq);
        Ok(texts.into_iter().map(|ready| ready.text).collect())
    }

    /// All of a message of which the beginning is known.
    async fn whole(&self, message: &Message) -> Result<String, StoreError> {
        let known = message.text.as_str();
        if known.chars().count() < ops::TaskMessages::LONGEST_TEXT {
            return Ok(known.to_owned());
        }
        let whole = self.store.call(ops::MessageText { id: message.id }).await?;
        Ok(whole.unwrap_or_else(|| known.to_owned()))
    }

    fn next_batch(&self, channel: Channel) -> ops::TakeMessages {
        ops::TakeMessages {
            run: self.run,
            attempt: self.attempt,
            channel,
            after: self.last,
            now: clock::now(),
        }
    }

    /// The agent was started with what [`Mailbox::open`] gave.
    pub(super) fn started(&mut self) {
        self.record(Receipt::Delivered, self.started_with.clone());
    }

    /// The agent has shown that it has what it was started with.
    pub(super) fn start_was_seen(&mut self) {
        let seen = std::mem::take(&mut self.started_with);
        self.record(Receipt::Seen, seen);
    }

    /// Asks the store what the agent may be told while it works.
    pub(super) fn take(&self) -> impl Future<Output = Vec<ReadyMessage>> + Send + 'static {
        let (store, take, files) = (self.store.clone(), self.next_batch(Channel::Input), self.files.clone());
        async move {
            let taken = persistently(&store, take).await.unwrap_or_default();
            // What comes after one that cannot be had now would come too early.
            let ready = move || taken.iter().map_while(|message| files.at_work(message).ok()).collect();
            blocking(ready).await.unwrap_or_default()
        }
    }

    /// These were given to the agent's input.
    pub(super) fn mark_delivered(&mut self, seqs: Vec<i64>) {
        self.last = seqs.last().copied().unwrap_or(self.last);
        self.given.extend(&seqs);
        self.record(Receipt::Delivered, seqs);
    }

    /// These were taken, to be typed one after the other.
    pub(super) fn took(&mut self, seqs: &[i64]) {
        self.last = seqs.last().copied().unwrap_or(self.last);
    }

    /// This one was typed.
    pub(super) fn typed(&mut self, seq: i64) {
        self.record(Receipt::Delivered, vec![seq]);
    }

    /// The agent has shown that it has what was typed.
    pub(super) fn typed_was_seen(&mut self, seq: i64) {
        self.record(Receipt::Seen, vec![seq]);
    }

    /// The agent is known to have this many of those that were given to its input.
    pub(super) fn input_was_seen(&mut self, count: usize) {
        let Some(new) = self.given.get(self.seen..count.min(self.given.len())) else { return };
        let new = new.to_vec();
        self.seen += new.len();
        self.record(Receipt::Seen, new);
    }

    fn record(&mut self, receipt: Receipt, seqs: Vec<i64>) {
        if seqs.is_empty() {
            return;
        }
        let (store, run, attempt) = (self.store.clone(), self.run, self.attempt);
        let before = self.recording.take();
        self.recording = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            // A refusal is a lost run. What the store does not learn of, the next run tells again.
            let _ =
                persistently(&store, ops::RecordReceipts { run, attempt, receipt, seqs, now: clock::now() })
                    .await;
        }));
    }

    /// Waits until the store has all receipts.
    pub(super) async fn close(&mut self) {
        if let Some(recording) = self.recording.take() {
            let _ = recording.await;
        }
    }
}

/// Messages that are too long for the way to the agent.
#[derive(Clone)]
struct LongMessages {
    dir: PathBuf,
}

impl LongMessages {
    /// A message in the text that starts an agent, which has this much room left.
    fn starting(&self, message: &Message, whole: &str, room: &mut usize) -> Result<ReadyMessage, String> {
        let text = if whole.len() <= LONGEST_INLINE.min(*room) {
            *room -= whole.len();
            message.introduced()
        } else {
            self.in_file(message, whole)?
        };
        Ok(ReadyMessage { seq: message.id.seq, text })
    }

    /// A message to an agent at work.
    fn at_work(&self, message: &Message) -> Result<ReadyMessage, String> {
        let whole = message.text.as_str();
        let text = if whole.len() <= LONGEST_INLINE {
            message.delivered_text().into_owned()
        } else {
            self.in_file(message, whole)?
        };
        Ok(ReadyMessage { seq: message.id.seq, text })
    }

    fn in_file(&self, message: &Message, whole: &str) -> Result<String, String> {
        let name = format!("{}.md", message.id.seq);
        let path = write_beside_agent(&self.dir, &name, whole.as_bytes())
            .map_err(|error| format!("{}: {error}", self.dir.join(&name).display()))?;
        Ok(message.found_in(&path.display().to_string(), whole.len()))
    }
}

/// Asks a store that is out of reach again and again.
async fn persistently<O: Op + Clone>(store: &Store, op: O) -> Result<O::Out, StoreError> {
    loop {
        match store.call(op.clone()).await {
            Err(error) if error.is_temporary() => tokio::time::sleep(RETRY_DELAY).await,
            answer => return answer,
        }
    }
}

/// Whether the agent gets a message again that it has seen. A new conversation has none of it; one that goes on may not
/// have what was said since the last good end: the run may have failed before its agent acted on it.
fn is_told_again(message: &Message, talk: &Talk, before: &[Run]) -> bool {
    // In a terminal an agent acts on each before it gets the next.
    let unfinished = before.iter().take_while(|run| run.state != RunState::Succeeded);
    let mut unfinished = unfinished.filter(|run| !run.mode.is_interactive());
    message.receipts.seen.is_some()
        && match talk {
            Talk::New(_) => true,
            Talk::Resumed { .. } => unfinished.any(|run| Some(run.id) == message.taken_by),
        }
}

#[cfg(test)]
mod tests {
    use fleet_core::message::{MessageId, MessageKind, Receipts};
    use fleet_core::run::{Meter, Reason};
    use fleet_core::time::Millis;

    use super::super::earlier_runs::{ended, failed, id};
    use super::*;

    #[test]
    fn what_an_agent_may_not_have_followed_is_told_again() {
        let before =
            [failed(3, Reason::RateLimited), ended(2, RunState::Succeeded, None), failed(1, Reason::Stale)];
        let said = |run: u64, seen| Message {
            id: MessageId { task: before[0].task, seq: 1 },
            kind: MessageKind::Prompt,
            text: "more".parse().unwrap(),
            from: "ada".to_owned(),
            expires_at: None,
            taken_by: Some(id(run)),
            receipts: Receipts { stored: Millis(0), delivered: Some(Millis(1)), seen },
        };
        let seen = |run| said(run, Some(Millis(1)));
        let goes_on = Talk::Resumed { session: "s".to_owned(), meter: Meter::default() };
        let new = Talk::New("n".to_owned());
        let again = |talk| [1, 2, 3].map(|run| is_told_again(&seen(run), talk, &before));
        assert_eq!(again(&goes_on), [false, false, true], "the run that had it last did not come to its end");
        assert_eq!(again(&new), [true; 3], "it knows nothing");
        assert!(!is_told_again(&said(3, None), &new, &before), "what is news is taken from the store");
    }
}
