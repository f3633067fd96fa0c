//! Attending to an agent that was started, until nothing of it is left.

mod begin;
mod purse;
mod record;
mod speech;
mod stopping;

use std::sync::Arc;
use std::time::Duration;

use fleet_agents::{Adapter, Ask, Failure, Stream};
use fleet_core::backoff::Backoff;
use fleet_core::budget::Bounds;
use fleet_core::outcome::{AgentExit, Stop};
use fleet_core::redact::Redactor;
use fleet_core::run::Reason;
use fleet_core::watchdog::{self, Next, Overrun, Pulse, Watchdog};
use fleet_host::git::{Marks, Workspace};
use fleet_host::log::CappedLog;
use fleet_host::newest_change;
use fleet_host::process::{self, Exit, Ladder, Processes, Started, Tree};
use fleet_store::{StoreError, ops};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, sleep, sleep_until, timeout_at};

use super::journal::{self, Heard, Journal, Stored};
use super::mailbox::Mailbox;
use super::prepare::Prepared;
use super::pump::{Piece, Pump, Source};
use super::tally::Pricing;
use super::voice::Voice;
use super::{Keeper, blocking};
use crate::agents::Terms;
use crate::{clock, closing};
use record::{RECORD_POLL_INTERVAL, RecordReader};

/// Events wait for company this long before they are stored.
const COMPANY: Duration = Duration::from_millis(200);
/// What is left in the pipes after everybody is gone is read for so long.
const DRAIN: Duration = Duration::from_secs(5);
/// A process that waits for a dead disk cannot be killed; nobody waits longer for it than this.
const KILL_PATIENCE: Duration = Duration::from_secs(20);
/// Processes whose parents ended come to the keeper; so often it looks for those that ended themselves.
const TIDY: Duration = Duration::from_secs(5);
/// So many files of the workspace tell whether a silent agent works.
const MOST_FILES: usize = 20_000;
/// How often it looks whether the agent has committed something.
const COMMIT_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// A repository that refuses commits (full, not writable) is tried again after this at the latest.
const LONGEST_PUBLISH_PAUSE: Duration = Duration::from_mins(1);

/// What was seen of the agent.
pub(super) struct Seen {
    pub(super) exit: AgentExit,
    pub(super) stopped: Option<Stop>,
    pub(super) heard: Heard,
    /// What it said last, if the store does not know it yet.
    pub(super) last: Option<ops::AppendRunEvents>,
    /// How much of its output the store has with that.
    stored: Stored,
}

impl Seen {
    pub(super) fn not_started(reason: Reason, why: String) -> Self {
        let heard = Heard { failure: Some(Failure::new(reason, why.clone())), ..Heard::default() };
        Self { exit: AgentExit::NotStarted(why), stopped: None, heard, last: None, stored: Stored::default() }
    }
}

impl Keeper<'_> {
    fn bounds(&self) -> watchdog::Bounds {
        let (limits, Bounds { tokens, micro_usd }) = (self.task.spec.limits, self.use_bounds());
        watchdog::Bounds {
            time: limits.seconds.map(Duration::from_secs).or(self.config.limits().time),
            idle: limits.idle_seconds.map(Duration::from_secs).or(self.config.limits().idle),
            tokens,
            micro_usd,
            snapshot_every: self.config.workspaces().snapshot_every,
        }
    }

    /// What its tokens cost. Where a bound on money has to hold, a model without a known price costs the most that any
    /// does: a bound that counts nothing is none.
    fn pricing(&self) -> Pricing {
        let Terms { prices, model, .. } = &self.terms;
        let fallback = self.use_bounds().micro_usd.and_then(|_| prices.highest());
        Pricing { prices: prices.clone(), model: model.clone(), fallback }
    }

    /// How the agent is made to end.
    pub(super) fn ladder(&self) -> Ladder {
        Ladder {
            ask: None,
            ask_grace: Duration::ZERO,
            term_grace: self.config.limits().stop_grace,
            kill_patience: KILL_PATIENCE,
        }
    }

    fn attendance<'k>(
        &'k self,
        AgentProcess { adapter, started, tree, mailbox }: AgentProcess<'k>,
        journal: Journal,
        prepared: &Prepared,
        secrets: &[Vec<u8>],
    ) -> Result<Attendance<'k>, String> {
        let pump = Pump::new();
        let cap = self.config.limits().log;
        let path = self.folder.stdout();
        let out = CappedLog::open(&path, cap).map_err(|error| format!("{}: {error}", path.display()))?;
        let journal = journal.behind(out.position());
        let err = CappedLog::when_written(&self.folder.stderr(), cap);
        for (stream, pipe, log) in [(Stream::Out, started.stdout, out), (Stream::Err, started.stderr, err)] {
            let source = Source { stream, pipe, log, redactor: Redactor::new(secrets.to_vec()) };
            pump.add(source).map_err(|error| error.to_string())?;
        }
        Ok(Attendance {
            keeper: self,
            adapter,
            tree,
            root: started.identity.pid,
            pump,
            open_pipes: 2,
            voice: Voice::new(started.stdin).map_err(|error| error.to_string())?,
            journal,
            record: RecordReader::default(),
            dog: Watchdog::new(self.bounds(), clock::uptime()),
            workspace: Arc::clone(&prepared.workspace),
            children: signal(SignalKind::child()).map_err(|error| error.to_string())?,
            writing: None,
            saving: None,
            publishing: None,
            marks: None,
            publish_backoff: Backoff::new(COMMIT_POLL_INTERVAL, LONGEST_PUBLISH_PAUSE),
            stopping: None,
            stopped: None,
            mailbox,
            reserving: None,
            is_warned: false,
            is_guess_told: false,
            asked_at: None,
            feeling: None,
            over_since: None,
            was_over: false,
            ask: None,
        })
    }
}

/// An agent that was started.
struct AgentProcess<'k> {
    adapter: &'k dyn Adapter,
    started: Started,
    tree: Tree,
    mailbox: Mailbox,
}

/// Everything that goes on while an agent is at work.
struct Attendance<'k> {
    keeper: &'k Keeper<'k>,
    adapter: &'k dyn Adapter,
    tree: Tree,
    root: i32,
    pump: Pump,
    open_pipes: usize,
    voice: Voice,
    journal: Journal,
    record: RecordReader,
    dog: Watchdog,
    workspace: Arc<Workspace>,
    children: Signal,
    /// A batch on its way to the store; one at a time, so that they arrive in order.
    writing: Option<JoinHandle<Result<(), StoreError>>>,
    /// What others have to say to the agent.
    mailbox: Mailbox,
    /// More of the budget, being asked for.
    reserving: Option<JoinHandle<Option<Bounds>>>,
    /// Whether people were warned that the agent will be stopped soon.
    is_warned: bool,
    /// Whether people were told that its money is counted at a price that is not its own.
    is_guess_told: bool,
    /// The last bound that was passed and for which more was asked for.
    asked_at: Option<Overrun>,
    /// A look at the processes of a silent agent.
    feeling: Option<JoinHandle<Pulse>>,
    /// When the agent said that it is through.
    over_since: Option<Duration>,
    /// Whether it was made to end after it had said so.
    was_over: bool,
    /// A snapshot being taken.
    saving: Option<JoinHandle<()>>,
    /// Commits of the agent on their way to the user.
    publishing: Option<JoinHandle<bool>>,
    /// How the agent's repository looked when they were last published, or when that was begun.
    marks: Option<Marks>,
    publish_backoff: Backoff,
    /// The tree being stopped.
    stopping: Option<JoinHandle<()>>,
    stopped: Option<Stop>,
    /// How this kind of agent is asked before it is told.
    ask: Option<Ask>,
}

impl Attendance<'_> {
    async fn follow(mut self) -> Seen {
        let exit = self.until_exit().await;
        // What ended it was our signal, and says nothing about its work.
        let exit = if self.was_over { AgentExit::Code(0) } else { exit };
        self.end_the_rest().await;
        self.drain().await;
        self.rest_of_record().await;
        let now = clock::now();
        self.journal.close(Stream::Out, now);
        self.journal.close(Stream::Err, now);
        let heard = self.journal.end(&exit, now);
        self.tell_uncounted(&exit);
        self.note_seen();
        if exit.is_success() && heard.failure.is_none() {
            // An agent without a word of its own has done what it was started with.
            self.mailbox.start_was_seen();
        }
        let last = self.last_words().await;
        Seen { exit, stopped: self.stopped, heard, last, stored: self.journal.stored() }
    }

    /// Until the agent itself has ended.
    async fn until_exit(&mut self) -> AgentExit {
        let (mut orders, mut waiting) = (self.keeper.orders.clone(), self.keeper.hold.waiting.clone());
        let mut tidy = interval(TIDY);
        let mut commits = interval_at(Instant::now() + COMMIT_POLL_INTERVAL, COMMIT_POLL_INTERVAL);
        let has_record = self.adapter.record("").is_some();
        let mut records = interval(RECORD_POLL_INTERVAL);
        records.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut company: Option<Instant> = None;
        self.speak();
        loop {
            if let Some((_, exit)) = process::reap().into_iter().find(|(pid, _)| *pid == self.root) {
                return match exit {
                    Exit::Code(code) => AgentExit::Code(code),
                    Exit::Signal(signal) => AgentExit::Signal(signal),
                };
            }
            let pause = self.act();
            if company.is_none() && !self.journal.is_empty() {
                company = Some(Instant::now() + COMPANY);
            }
            let store_at = company.filter(|_| self.writing.is_none());
            tokio::select! {
                piece = self.pump.pieces.recv(), if !self.journal.is_full() && self.open_pipes > 0 => {
                    self.take(piece);
                }
                _ = self.children.recv() => {}
                _ = orders.changed(), if self.stopped.is_none() => {}
                () = sleep_until(store_at.unwrap_or_else(Instant::now)), if store_at.is_some() => {
                    company = None;
                    self.write();
                }
                Ok(()) = waiting.changed(), if self.takes_messages() => self.mailbox.take(),
                now = came(&mut self.reserving) => self.reserved(now),
                messages = self.mailbox.taken() => self.give(messages),
                () = finished(&mut self.writing) => {}
                () = finished(&mut self.saving) => {}
                pulse = came(&mut self.feeling) => self.dog.felt(pulse, clock::uptime()),
                is_done = came(&mut self.publishing) => self.published(is_done),
                _ = commits.tick(), if self.publishing.is_none() && self.stopped.is_none() => self.publish(),
                _ = records.tick(), if has_record => self.look_at_record(),
                lines = self.record.looked() => self.take_record(lines),
                _ = tidy.tick() => {}
                () = sleep(pause) => {}
            }
        }
    }

    /// Does what is due by the clock or by order; says when to look again.
    fn act(&mut self) -> Duration {
        if self.stopped.is_some() {
            return TIDY;
        }
        let order = self.keeper.orders.borrow().clone();
        if let Some(order) = order {
            self.obey(order);
            return TIDY;
        }
        if let Some((reason, text)) = self.journal.hopeless() {
            self.stop(Stop::Hopeless(reason, text));
            return TIDY;
        }
        let now = clock::uptime();
        if let Some(left) = self.lingers(now) {
            return left;
        }
        if self.journal.is_full() {
            // It is we who do not listen, because the store does not answer.
            self.dog.heard(now);
        }
        match self.dog.next(now) {
            Next::Stop(overrun) if self.may_get_more(overrun) => TIDY,
            Next::Stop(overrun) => {
                self.stop_at(overrun);
                TIDY
            }
            Next::Feel => {
                self.feel();
                TIDY
            }
            Next::Snapshot => {
                self.dog.snapshotted(now);
                self.save("while it worked");
                TIDY
            }
            Next::Sleep(pause) => pause,
        }
    }

    fn take(&mut self, piece: Option<Piece>) {
        match piece {
            Some(Piece::Bytes(stream, bytes)) => {
                if self.journal.push(stream, &bytes, clock::now()) {
                    self.dog.heard(clock::uptime());
                } else {
                    self.dog.tried();
                }
                self.count_use();
                self.speak();
            }
            Some(Piece::End) => self.open_pipes -= 1,
            None => self.open_pipes = 0,
        }
    }

    /// Looks whether a silent agent works, beside everything else.
    fn feel(&mut self) {
        if self.feeling.is_some() {
            return;
        }
        let (tree, workspace) = (self.tree.clone(), self.workspace.path().to_owned());
        self.feeling = Some(tokio::task::spawn_blocking(move || {
            let processes = Processes::scan();
            let (usage, io) = (tree.usage_in(&processes), tree.io_in(&processes));
            let changed_at = newest_change(&workspace, MOST_FILES).and_then(clock::millis_of);
            Pulse {
                cpu: usage.cpu,
                processes: usage.processes,
                io_bytes: io.bytes,
                io_calls: io.calls,
                changed_at,
            }
        }));
    }

    /// Sends what has come together to the store.
    fn write(&mut self) {
        let batch = self.journal.batch(clock::now());
        let store = self.keeper.store.clone();
        self.writing = Some(tokio::spawn(journal::store(store, batch)));
    }

    /// Puts the work in safety, beside everything else.
    fn save(&mut self, why: &'static str) {
        if self.saving.is_some() {
            return;
        }
        let (workspace, run) = (Arc::clone(&self.workspace), self.keeper.run.id);
        self.saving = Some(tokio::task::spawn_blocking(move || {
            // The next one may work; what is on disk stays where it is.
            let _ = closing::save(&workspace, run, why, clock::now());
        }));
    }

    /// Brings what the agent has committed to the user's repository, beside everything else.
    fn publish(&mut self) {
        if !self.publish_backoff.is_due(clock::uptime()) || self.keeper.is_lost() {
            return;
        }
        let marks = Some(self.workspace.marks());
        if marks == self.marks {
            return;
        }
        self.marks = marks;
        let workspace = Arc::clone(&self.workspace);
        self.publishing = Some(tokio::task::spawn_blocking(move || workspace.publish_commits().is_ok()));
    }

    /// A failure is tried again, ever less often. What does not get there at all is told at the end.
    fn published(&mut self, is_done: bool) {
        if is_done {
            self.publish_backoff.succeeded();
        } else {
            self.marks = None;
            self.publish_backoff.failed(clock::uptime());
        }
    }

    /// Reads what is still in the pipes. Nobody can write to them any more, unless somebody got away.
    async fn drain(&mut self) {
        let deadline = Instant::now() + DRAIN;
        while self.open_pipes > 0 {
            match timeout_at(deadline, self.pump.pieces.recv()).await {
                Ok(piece) => self.take(piece),
                Err(_) => return,
            }
            if self.journal.is_full() {
                self.store_the_rest().await;
            }
        }
    }

    async fn store_the_rest(&mut self) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.await;
        }
        if !self.journal.is_empty() {
            // A refusal is a lost run, which the end will find out as well.
            let _ = journal::store(self.keeper.store.clone(), self.journal.batch(clock::now())).await;
        }
    }

    /// Waits for all that goes on. What is not stored then is told with the end of the run.
    async fn last_words(&mut self) -> Option<ops::AppendRunEvents> {
        if let Some(writing) = self.writing.take() {
            let _ = writing.await;
        }
        let (saving, publishing) = (self.saving.take(), self.publishing.take());
        self.keeper
            .bounded(async {
                if let Some(saving) = saving {
                    let _ = saving.await;
                }
                if let Some(publishing) = publishing {
                    let _ = publishing.await;
                }
            })
            .await;
        self.mailbox.close().await;
        (!self.journal.is_empty()).then(|| self.journal.batch(clock::now()))
    }
}

/// What something that may be going on came to, once it did.
pub(super) async fn came<T: Default>(work: &mut Option<JoinHandle<T>>) -> T {
    match work {
        Some(handle) => {
            let result = handle.await.unwrap_or_default();
            *work = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// Waits for the end of something that may not be going on, and forgets it.
async fn finished<T>(work: &mut Option<JoinHandle<T>>) {
    match work {
        Some(handle) => {
            let _ = handle.await;
            *work = None;
        }
        None => std::future::pending().await,
    }
}
