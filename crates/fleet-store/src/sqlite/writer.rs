//! One thread that writes: operations that wait at the same time share one commit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::holder::LockWatch;
use super::lock::WriteLock;
use super::log::Log;
use super::reader::Readers;
use super::tx::{SqliteTx, finish};
use super::wake::Bell;
use crate::StoreError;
use crate::tx::{AnyOp, AnyOut};

/// At most this many operations share a commit: each waits for those before it, and so do other processes.
const BATCH: usize = 128;

/// Far more than callers wait at once.
const MOST_WAITING: usize = 4_096;

/// Hands operations to the writing thread, which ends with the last clone of the store.
pub(super) struct Writer {
    // Every sender waits for its answer, so only what was given up can pile up behind a frozen lock.
    jobs: SyncSender<Job>,
    watch: Arc<LockWatch>,
}

impl Writer {
    pub(super) fn start(path: PathBuf, connections: Arc<Readers>, watch: Arc<LockWatch>) -> Self {
        let (jobs, queue) = sync_channel(MOST_WAITING);
        // If no thread can be had, the queue is dropped with the closure and every call says so.
        let serve = move || serve(&path, &connections, &queue);
        let _ = std::thread::Builder::new().name("store-writer".to_owned()).spawn(serve);
        Self { jobs, watch }
    }

    pub(super) async fn call(&self, op: Box<dyn AnyOp>) -> Result<AnyOut, StoreError> {
        let gone = || StoreError::Failed("the writing thread is gone".to_owned());
        let (reply, answer) = oneshot::channel();
        let turn = Arc::new(Turn::default());
        let job = Job { op, turn: Arc::clone(&turn), reply, result: None, rings: false };
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => self.watch.busy(),
            TrySendError::Disconnected(_) => gone(),
        })?;
        let mut answer = answer;
        match self.watch.wait(&mut answer).await {
            Some(answer) => answer.map_err(|_| gone())?,
            // Not begun: it never will be. Begun: the outcome is near, and must be told as it is.
            None if turn.take(Turn::ABANDONED) => Err(self.watch.busy()),
            None => answer.await.map_err(|_| gone())?,
        }
    }
}

/// Who has the say over a job: the writer that begins it or the caller that gives up. The first one wins.
#[derive(Default)]
struct Turn(AtomicU8);

impl Turn {
    const BEGUN: u8 = 1;
    const ABANDONED: u8 = 2;

    fn take(&self, by: u8) -> bool {
        self.0.compare_exchange(0, by, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// An operation on its way.
struct Job {
    op: Box<dyn AnyOp>,
    turn: Arc<Turn>,
    reply: oneshot::Sender<Result<AnyOut, StoreError>>,
    result: Option<Result<AnyOut, StoreError>>,
    /// Whether waiting processes are to be told.
    rings: bool,
}

impl Job {
    /// Whether the caller still waits.
    fn begin(&self) -> bool {
        self.turn.take(Turn::BEGUN)
    }

    /// Runs it inside the open transaction; an error says that its changes are not to be kept.
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> Result<(), StoreError> {
        tx.announced = false;
        let result = finish(self.op.run(tx));
        self.rings = tx.announced && result.is_ok();
        let verdict = result.as_ref().map(drop).map_err(Clone::clone);
        self.result = Some(result);
        verdict
    }

    /// Tells the caller: its own outcome, or that the commit failed.
    fn reply(self, commit: &Result<(), StoreError>) {
        let outcome = match (self.result, commit) {
            // An operation that failed by itself says why; what became of the others is not its business.
            (Some(Err(error)), _) => Err(error),
            (Some(result), Ok(())) => result,
            (_, Err(error)) => Err(error.clone()),
            (None, Ok(())) => Err(StoreError::Failed("the operation was not run".to_owned())),
        };
        // A caller that went away does not need the answer.
        let _ = self.reply.send(outcome);
    }
}

/// What the writing thread holds; opened at its first job, opened again if that failed.
struct Desk {
    lock: WriteLock,
    bell: Bell,
    log: Log,
}

impl Desk {
    fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { lock: WriteLock::of(path)?, bell: Bell::new(path), log: Log::of(path) })
    }
}

fn serve(path: &Path, connections: &Readers, queue: &Receiver<Job>) {
    let (mut desk, mut next) = (None::<Desk>, None);
    while let Some(first) = next.take().or_else(|| queue.recv().ok()) {
        let opened = match desk.take() {
            Some(desk) => Ok(desk),
            None => Desk::open(path),
        };
        match opened.and_then(|desk| Ok((desk, connections.take()?))) {
            Ok((ready, mut connection)) => {
                let ready = serve_batch((ready, &mut connection), path, first, queue);
                connections.give_back(connection);
                next = queue.try_recv().ok();
                if next.is_some() {
                    ready.lock.let_others_in();
                }
                desk = Some(ready);
            }
            Err(error) => first.reply(&Err(error)),
        }
    }
}

/// One transaction: the first job and those that came meanwhile.
fn serve_batch(
    (mut desk, connection): (Desk, &mut Connection),
    path: &Path,
    first: Job,
    queue: &Receiver<Job>,
) -> Desk {
    let locked = desk.lock.hold();
    let mut jobs: Vec<_> =
        std::iter::once(first).chain(queue.try_iter().take(BATCH - 1)).filter(Job::begin).collect();
    let outcome = locked
        .and_then(|_lock| run_batch(connection, path, &mut jobs).inspect(|()| desk.log.tend(connection)));
    if outcome.is_ok() && jobs.iter().any(|job| job.rings) {
        desk.bell.ring();
    }
    // Also when there was no lock to be had: everybody is told why.
    for job in jobs {
        job.reply(&outcome);
    }
    desk
}

fn run_batch(connection: &mut Connection, path: &Path, jobs: &mut [Job]) -> Result<(), StoreError> {
    let mut tx = SqliteTx::new(connection, path);
    let mut outcome = tx.command("BEGIN IMMEDIATE");
    for job in jobs {
        if outcome.is_ok() {
            outcome = run_job(job, &mut tx);
        }
    }
    outcome.and_then(|()| tx.command("COMMIT")).inspect_err(|_| {
        // The engine may have rolled back by itself (a full disk); then there is nothing left to end.
        if !tx.connection.is_autocommit() {
            let _ = tx.command("ROLLBACK");
        }
    })
}

/// Runs a job so that its failure undoes nothing but itself.
fn run_job(job: &mut Job, tx: &mut SqliteTx<'_>) -> Result<(), StoreError> {
    tx.command("SAVEPOINT job")?;
    if let Err(error) = job.run(tx) {
        if tx.connection.is_autocommit() {
            // The engine gave the whole transaction up (a full disk): nobody's changes are there.
            return Err(error);
        }
        tx.command("ROLLBACK TO job")?;
    }
    tx.command("RELEASE job")
}
