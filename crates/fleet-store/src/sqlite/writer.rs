//! One thread that writes: operations that wait at the same time share one commit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::holder::LockWatch;
use super::lock::WriteLock;
use super::log::WriteAheadLog;
use super::reader::Readers;
use super::tx::{SqliteTx, finish};
use super::wake::WakeFile;
use crate::StoreError;
use crate::tx::{AnyOp, AnyOut};

/// At most this many operations share a commit: each waits for those before it.
const BATCH: usize = 128;

/// At most this many, while another process waits for its turn.
const BATCH_WHILE_WANTED: usize = 16;

/// Far more than ever wait at once.
const MAX_WAITING: usize = 4_096;

/// Hands operations to the writing thread, which ends with the last clone of the store.
pub(super) struct Writer {
    // Every sender waits for its answer, so only what was given up can pile up behind a frozen lock.
    jobs: SyncSender<WriteJob>,
    watch: Arc<LockWatch>,
}

impl Writer {
    pub(super) fn start(path: PathBuf, connections: Arc<Readers>, watch: Arc<LockWatch>) -> Self {
        let (jobs, queue) = sync_channel(MAX_WAITING);
        // If no thread can be had, the queue is dropped with the closure and every call says so.
        let serve = move || serve(&path, &connections, &queue);
        let _ = std::thread::Builder::new().name("store-writer".to_owned()).spawn(serve);
        Self { jobs, watch }
    }

    pub(super) async fn call(&self, op: Box<dyn AnyOp>) -> Result<AnyOut, StoreError> {
        let gone = || StoreError::Failed("the writing thread is gone".to_owned());
        let (reply, answer) = oneshot::channel();
        let owner = Arc::new(Owner::default());
        let job = WriteJob { op, owner: Arc::clone(&owner), reply, result: None, announces: false };
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => self.watch.busy(),
            TrySendError::Disconnected(_) => gone(),
        })?;
        let mut answer = answer;
        match self.watch.wait(&mut answer).await {
            Some(answer) => answer.map_err(|_| gone())?,
            // Not begun: it never will be. Begun: the outcome is near, and must be told as it is.
            None if owner.take(Owner::CALLER) => Err(self.watch.busy()),
            None => answer.await.map_err(|_| gone())?,
        }
    }
}

/// Who decides about a job: the writer that begins it, or the caller that gives up. The first one wins.
#[derive(Default)]
struct Owner(AtomicU8);

impl Owner {
    const WRITER: u8 = 1;
    const CALLER: u8 = 2;

    fn take(&self, by: u8) -> bool {
        self.0.compare_exchange(0, by, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

struct WriteJob {
    op: Box<dyn AnyOp>,
    owner: Arc<Owner>,
    reply: oneshot::Sender<Result<AnyOut, StoreError>>,
    result: Option<Result<AnyOut, StoreError>>,
    /// Whether waiting processes must be woken.
    announces: bool,
}

impl WriteJob {
    /// Whether the caller still waits.
    fn begin(&self) -> bool {
        self.owner.take(Owner::WRITER)
    }

    /// Runs it inside the open transaction; an error says that its changes are not to be kept.
    fn run(&mut self, tx: &mut SqliteTx<'_>) -> Result<(), StoreError> {
        tx.announced = false;
        let result = finish(self.op.run(tx));
        self.announces = tx.announced && result.is_ok();
        let verdict = result.as_ref().map(drop).map_err(Clone::clone);
        self.result = Some(result);
        verdict
    }

    /// Replies to the caller: with its own outcome, or that the commit failed.
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

/// The files beside the database. Opened at the first job, and again if that failed.
struct WriterFiles {
    lock: WriteLock,
    bell: WakeFile,
    log: WriteAheadLog,
}

impl WriterFiles {
    fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { lock: WriteLock::of(path)?, bell: WakeFile::new(path), log: WriteAheadLog::of(path) })
    }
}

fn serve(path: &Path, connections: &Readers, queue: &Receiver<WriteJob>) {
    let (mut files, mut next) = (None::<WriterFiles>, None);
    while let Some(first) = next.take().or_else(|| queue.recv().ok()) {
        let opened = match files.take() {
            Some(files) => Ok(files),
            None => WriterFiles::open(path),
        };
        match opened.and_then(|files| Ok((files, connections.take()?))) {
            Ok((ready, mut connection)) => {
                let ready = serve_batch((ready, &mut connection), path, first, queue);
                connections.give_back(connection);
                next = queue.try_recv().ok();
                if next.is_some() {
                    ready.lock.yield_to_waiters();
                }
                files = Some(ready);
            }
            Err(error) => first.reply(&Err(error)),
        }
    }
}

/// One transaction: the first job and those that came meanwhile.
fn serve_batch(
    (mut files, connection): (WriterFiles, &mut Connection),
    path: &Path,
    first: WriteJob,
    queue: &Receiver<WriteJob>,
) -> WriterFiles {
    let WriterFiles { lock, bell, log } = &mut files;
    let mut jobs = Vec::new();
    let outcome = match lock.hold() {
        Ok(_held) => {
            let waiting = waiting_jobs(first, queue, lock);
            let outcome = run_batch(connection, path, waiting, &mut jobs);
            if outcome.is_ok() {
                log.tend_now(connection);
            }
            outcome
        }
        // Every caller learns why.
        Err(error) => {
            jobs.extend(std::iter::once(first).chain(queue.try_iter()).filter(WriteJob::begin));
            Err(error)
        }
    };
    if outcome.is_ok() && jobs.iter().any(|job| job.announces) {
        bell.ring();
    }
    for job in jobs {
        job.reply(&outcome);
    }
    log.empty_if_grown(connection, lock);
    files
}

/// The first job and those that wait behind it, as many as may share a commit.
fn waiting_jobs(
    first: WriteJob,
    queue: &Receiver<WriteJob>,
    lock: &WriteLock,
) -> impl Iterator<Item = WriteJob> {
    let others = (1..BATCH).map_while(move |number| {
        let is_turn_over = number >= BATCH_WHILE_WANTED && lock.is_wanted();
        if is_turn_over { None } else { queue.try_recv().ok() }
    });
    std::iter::once(first).chain(others).filter(WriteJob::begin)
}

/// Runs jobs as they come, in one transaction; `done` has all that were begun.
fn run_batch(
    connection: &mut Connection,
    path: &Path,
    jobs: impl Iterator<Item = WriteJob>,
    done: &mut Vec<WriteJob>,
) -> Result<(), StoreError> {
    let mut tx = SqliteTx::new(connection, path);
    let mut outcome = tx.command("BEGIN IMMEDIATE");
    for mut job in jobs {
        if outcome.is_ok() {
            outcome = run_job(&mut job, &mut tx);
        }
        done.push(job);
        if outcome.is_err() {
            break;
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
fn run_job(job: &mut WriteJob, tx: &mut SqliteTx<'_>) -> Result<(), StoreError> {
    tx.command("SAVEPOINT job")?;
    if let Err(error) = job.run(tx) {
        if tx.connection.is_autocommit() {
            // The engine gave the whole transaction up (a full disk): no changes are there.
            return Err(error);
        }
        tx.command("ROLLBACK TO job")?;
    }
    tx.command("RELEASE job")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;

    fn job() -> WriteJob {
        let (reply, _) = oneshot::channel();
        WriteJob {
            op: Box::new(ops::ServerTime),
            owner: Arc::default(),
            reply,
            result: None,
            announces: false,
        }
    }

    #[test]
    fn a_batch_is_short_while_another_process_waits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fleet.db");
        let (jobs, queue) = sync_channel(MAX_WAITING);
        (0..2 * BATCH).for_each(|_| jobs.send(job()).unwrap());
        let lock = WriteLock::of(&path).unwrap();
        let batch = || waiting_jobs(job(), &queue, &lock).count();
        let held = lock.hold().unwrap();
        assert_eq!(batch(), BATCH);
        std::thread::scope(|scope| {
            scope.spawn(|| drop(WriteLock::of(&path).unwrap().hold().unwrap()));
            while !lock.is_wanted() {
                std::thread::yield_now();
            }
            assert_eq!(batch(), BATCH_WHILE_WANTED);
            drop(held);
        });
    }
}
