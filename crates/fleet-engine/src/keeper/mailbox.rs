//! The mailbox of a run: takes the messages that wait for its agent, delivers them in their order, and leaves a receipt for
//! each step.
//!
//! Two channels lead to an agent: the text that starts it, and its structured input while it works. What neither can take
//! now stays for the next run, and so does what was delivered and never seen: an agent may be told the same twice, but
//! never too little.

use fleet_core::id::{RunId, TaskId};
use fleet_core::message::{Channel, Message, Receipt};
use fleet_core::run::{Run, RunState};
use fleet_store::{Op, Store, StoreError, ops};
use tokio::task::JoinHandle;

use super::talk::Talk;
use super::{Keeper, RETRY_DELAY};
use crate::clock;

/// At most this many of the newest messages are looked at: twice as many as may wait.
const MAX_MESSAGES: i64 = 40;

pub(super) struct Mailbox {
    store: Store,
    task: TaskId,
    run: RunId,
    attempt: i64,
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
            last: 0,
            started_with: Vec::new(),
            given: Vec::new(),
            seen: 0,
            recording: None,
        }
    }

    /// What the agent does not know in this conversation, oldest first. Without it the agent need not start: it may be
    /// all that this run is for.
    pub(super) async fn open(&mut self, talk: &Talk, before: &[Run]) -> Result<Vec<Message>, String> {
        let unknown = |error: StoreError| format!("what people said to it: {error}");
        let known = ops::TaskMessages { task: self.task, limit: MAX_MESSAGES };
        let known = self.store.call(known).await.map_err(unknown)?;
        // Looking is cheaper than taking, and mostly there is nothing.
        let is_news = known.iter().any(|message| message.receipts.seen.is_none());
        let mut messages: Vec<_> =
            known.into_iter().filter(|message| is_told_again(message, talk, before)).collect();
        if is_news {
            let news = self.store.call(self.all_that_waits(Channel::Start)).await.map_err(unknown)?;
            self.started_with = news.iter().map(|message| message.id.seq).collect();
            self.last = self.started_with.last().copied().unwrap_or(0);
            messages.extend(news);
            messages.sort_unstable_by_key(|message| message.id.seq);
        }
        Ok(messages)
    }

    fn all_that_waits(&self, channel: Channel) -> ops::TakeMessages {
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
    pub(super) fn take(&self) -> impl Future<Output = Vec<Message>> + Send + 'static {
        let (store, take) = (self.store.clone(), self.all_that_waits(Channel::Input));
        async move { persistently(&store, take).await.unwrap_or_default() }
    }

    /// These were given to the agent's input.
    pub(super) fn mark_delivered(&mut self, seqs: Vec<i64>) {
        self.last = seqs.last().copied().unwrap_or(self.last);
        self.given.extend(&seqs);
        self.record(Receipt::Delivered, seqs);
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
    let mut unfinished = before.iter().take_while(|run| run.state != RunState::Succeeded);
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
