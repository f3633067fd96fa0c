//! The side that asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::table;
use super::wire::{self, MAX_WAITING, WireRefusal};
use crate::StoreError;
use crate::tx::{AnyOp, AnyOut};

/// A connection to a process that runs operations for this one. Once anything is wrong with it, it is not used again.
pub(crate) struct RelayClient {
    requests: mpsc::Sender<String>,
    calls: Arc<PendingCalls>,
    /// The reading and the writing task; the connection ends with them.
    tasks: [AbortHandle; 2],
    /// An answer that takes longer is not waited for.
    patience: Duration,
}

impl RelayClient {
    /// Must be called inside the runtime that will run it.
    pub(crate) fn new(stream: UnixStream, patience: Duration) -> Self {
        let (read, write) = stream.into_split();
        let (requests, queue) = mpsc::channel(MAX_WAITING);
        // The channel is empty: there is room.
        let _ = requests.try_send(wire::greeting());
        let calls = Arc::new(PendingCalls::default());
        let tasks = [
            tokio::spawn(wire::send(write, queue)).abort_handle(),
            tokio::spawn(dispatch_answers(read, Arc::clone(&calls))).abort_handle(),
        ];
        Self { requests, calls, tasks, patience }
    }

    /// The result of an operation. `None`: ask the store itself.
    pub(crate) async fn ask(&self, op: &dyn AnyOp) -> Option<Result<AnyOut, StoreError>> {
        let (entry, json) = table::encode(op)?;
        let answer = self.exchange(entry.name, &json).await?;
        match answer.split_once(' ')? {
            ("done", json) => entry.decode_out(json).map(Ok),
            ("refused", json) => Some(Err(serde_json::from_str::<WireRefusal>(json).ok()?.into())),
            _ => None,
        }
    }

    async fn exchange(&self, name: &str, json: &str) -> Option<String> {
        let answer = match self.send(name, json) {
            Some(answer) => timeout(self.patience, answer).await.ok().and_then(Result::ok),
            None => None,
        };
        if answer.is_none() {
            self.close();
        }
        answer
    }

    fn send(&self, name: &str, json: &str) -> Option<oneshot::Receiver<String>> {
        let (number, answer) = self.calls.begin(self.patience)?;
        self.requests.try_send(format!("{number} {name} {json}\n")).ok()?;
        Some(answer)
    }

    fn close(&self) {
        self.calls.close();
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Drop for RelayClient {
    fn drop(&mut self) {
        self.close();
    }
}

/// Passes answers to the waiting callers.
async fn dispatch_answers(from: OwnedReadHalf, calls: Arc<PendingCalls>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Some((number, answer)) = line.split_once(' ') else { break };
        let Ok(number) = number.parse() else { break };
        calls.answer(number, answer.to_owned());
    }
    calls.close();
}

/// Calls without an answer.
#[derive(Default)]
struct PendingCalls(Mutex<OpenCalls>);

#[derive(Default)]
struct OpenCalls {
    is_closed: bool,
    last: u64,
    /// By number, so the first one is the oldest. One whose caller went away stays until it is answered: it tells how
    /// long the other side has been silent.
    unanswered: BTreeMap<u64, PendingCall>,
}

struct PendingCall {
    since: Instant,
    reply: oneshot::Sender<String>,
}

impl PendingCalls {
    fn lock(&self) -> MutexGuard<'_, OpenCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new call, unless the other side is gone or has been silent for too long.
    fn begin(&self, patience: Duration) -> Option<(u64, oneshot::Receiver<String>)> {
        let mut calls = self.lock();
        let is_silent =
            calls.unanswered.values().next().is_some_and(|oldest| oldest.since.elapsed() >= patience);
        if calls.is_closed || is_silent {
            return None;
        }
        let (reply, answer) = oneshot::channel();
        calls.last += 1;
        let number = calls.last;
        calls.unanswered.insert(number, PendingCall { since: Instant::now(), reply });
        Some((number, answer))
    }

    fn answer(&self, number: u64, answer: String) {
        let call = self.lock().unanswered.remove(&number);
        // A caller that went away does not need the answer.
        let _ = call.map(|call| call.reply.send(answer));
    }

    /// Sends all waiting callers to the store itself.
    fn close(&self) {
        let mut calls = self.lock();
        calls.is_closed = true;
        calls.unanswered.clear();
    }
}
