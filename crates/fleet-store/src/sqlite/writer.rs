//! One thread that writes: operations that wait at the same time share one commit.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use rusqlite::Connection;
use rustix::fs::FlockOperation;
use tokio::sync::oneshot;

use super::connection::{beside, open_private};
use super::failure::explain_io;
use super::log::Log;
use super::reader::Readers;
use super::tx::{SqliteTx, finish};
use super::wake::Bell;
use crate::StoreError;
use crate::store::PATIENCE;
use crate::tx::Op;

/// So many operations share a commit at most: one waits for the others that run before it.
const BATCH: usize = 256;

/// Far more than callers wait at once.
const MOST_WAITING: usize = 4_096;

/// Hands operations to the writing thread, which ends with the last clone of the store.
pub(super) struct Writer {
    // Every sender waits for its answer, so only what was given up can pile up behind a frozen lock.
    jobs: SyncSender<Box<dyn Job>>,
}

impl Writer {
    pub(super) fn start(path: PathBuf, connections: Arc<Readers>) -> Self {
        let (jobs, queue) = sync_channel(MOST_WAITING);
        // If no thread can be had, the queue is dropped with the closure and every call says so.
        let serve = move || serve(&path, &connections, &queue);
        let _ = std::thread::Builder::new().name("store-writer".to_owned()).spawn(serve);
        Self { jobs }
    }

    pub(super) async fn call<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        let gone = || StoreError::Failed("the writing thread is gone".to_owned());
        let (reply, answer) = oneshot::channel();
        let turn = Arc::new(Turn::default());
        let job = Pending { op, turn: Arc::clone(&turn), reply, result: None, rings: false };
        self.jobs.try_send(Box::new(job)).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy { seconds: 0 },
            TrySendError::Disconnected(_) => gone(),
        })?;
        let mut answer = answer;
        match tokio::time::timeout(PATIENCE, &mut answer).await {
            Ok(answer) => answer.map_err(|_| gone())?,
            // Not begun: it never will be. Begun: the outcome is near, and must be told as it is.
            Err(_) if turn.take(Turn::ABANDONED) => Err(StoreError::Busy { seconds: PATIENCE.as_secs() }),
            Err(_) => answer.await.map_err(|_| gone())?,
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

/// An operation on its way, its type hidden.
trait Job: Send {
    /// Whether waiting processes are to be told.
    fn rings(&self) -> bool;
    /// Whether the caller still waits.
    fn begin(&self) -> bool;
    /// Runs it inside the open transaction; an error says that its changes are not to be kept.
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> Result<(), StoreError>;
    /// Tells the caller: its own outcome, or that the commit failed.
    fn reply(self: Box<Self>, commit: &Result<(), StoreError>);
}

struct Pending<O: Op> {
    op: O,
    turn: Arc<Turn>,
    reply: oneshot::Sender<Result<O::Out, StoreError>>,
    result: Option<Result<O::Out, StoreError>>,
    rings: bool,
}

impl<O: Op> Job for Pending<O> {
    fn rings(&self) -> bool {
        self.rings
    }

    fn begin(&self) -> bool {
        self.turn.take(Turn::BEGUN)
    }

    fn run(&mut self, tx: &mut SqliteTx<'_>) -> Result<(), StoreError> {
        tx.announced = false;
        let result = finish(self.op.run(tx));
        self.rings = tx.announced && result.is_ok();
        let verdict = result.as_ref().map(drop).map_err(Clone::clone);
        self.result = Some(result);
        verdict
    }

    fn reply(self: Box<Self>, commit: &Result<(), StoreError>) {
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
    lock: File,
    bell: Bell,
    log: Log,
}

impl Desk {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let lock = open_private(&beside(path, ".lock"))?;
        Ok(Self { lock, bell: Bell::new(path), log: Log::of(path) })
    }
}

fn serve(path: &Path, connections: &Readers, queue: &Receiver<Box<dyn Job>>) {
    let mut desk = None;
    while let Ok(first) = queue.recv() {
        let opened = match desk.take() {
            Some(desk) => Ok(desk),
            None => Desk::open(path),
        };
        match opened.and_then(|desk| Ok((desk, connections.take()?))) {
            Ok((ready, mut connection)) => {
                desk = Some(serve_batch((ready, &mut connection), path, first, queue));
                connections.give_back(connection);
            }
            Err(error) => first.reply(&Err(error)),
        }
    }
}

/// One transaction: the first job and those that came meanwhile.
fn serve_batch(
    (mut desk, connection): (Desk, &mut Connection),
    path: &Path,
    first: Box<dyn Job>,
    queue: &Receiver<Box<dyn Job>>,
) -> Desk {
    let locked = FileLock::hold(&desk.lock, path);
    let mut jobs: Vec<_> =
        std::iter::once(first).chain(queue.try_iter().take(BATCH - 1)).filter(|job| job.begin()).collect();
    let outcome = locked
        .and_then(|_lock| run_batch(connection, path, &mut jobs).inspect(|()| desk.log.tend(connection)));
    if outcome.is_ok() && jobs.iter().any(|job| job.rings()) {
        desk.bell.ring();
    }
    // Also when there was no lock to be had: everybody is told why.
    for job in jobs {
        job.reply(&outcome);
    }
    desk
}

fn run_batch(connection: &mut Connection, path: &Path, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let mut tx = SqliteTx::new(connection, path);
    let mut outcome = tx.command("BEGIN IMMEDIATE");
    for job in jobs {
        if outcome.is_ok() {
            outcome = run_job(job.as_mut(), &mut tx);
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
fn run_job(job: &mut dyn Job, tx: &mut SqliteTx<'_>) -> Result<(), StoreError> {
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

/// The lock between processes. The kernel queues those who wait, and frees it when its holder dies.
pub(super) struct FileLock<'a> {
    file: &'a File,
}

impl<'a> FileLock<'a> {
    fn hold(file: &'a File, path: &Path) -> Result<Self, StoreError> {
        lock(file).map_err(|error| explain_io(&error, path))?;
        Ok(Self { file })
    }

    /// Waits for the lock in a file of its own; for the schema, which is changed before there is a writer.
    pub(super) fn wait(path: &Path) -> Result<File, StoreError> {
        const PAUSE: Duration = Duration::from_millis(5);
        let file = open_private(path)?;
        for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => std::thread::sleep(PAUSE),
                Err(error) => return Err(explain_io(&error.into(), path)),
            }
        }
        Err(StoreError::Busy { seconds: PATIENCE.as_secs() })
    }
}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        // Cannot fail for a lock that is held; closing the file would free it anyway.
        let _ = rustix::fs::flock(self.file, FlockOperation::Unlock);
    }
}

fn lock(file: &File) -> std::io::Result<()> {
    loop {
        match rustix::fs::flock(file, FlockOperation::LockExclusive) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.map_err(Into::into),
        }
    }
}
