//! Supervising an agent that was started, until nothing of it is left.
//!
//! What to do is decided in [`fleet_core::supervision`]. Here its inputs are waited for, and its effects carried out.

mod begin;
mod effects;
mod record;
mod stop;

use std::sync::Arc;
use std::time::Duration;

use fleet_agents::{Adapter, AgentFailure, Ask, Stream};
use fleet_core::budget::{Bounds, Used};
use fleet_core::message::Message;
use fleet_core::outcome::{AgentExit, StopCause};
use fleet_core::redact::Redactor;
use fleet_core::run::Reason;
use fleet_core::supervision::{
    AgentStatus, BackgroundWork, Backlog, Effect, Input, PriceGuess, Supervision, SupervisionEnd,
    SupervisionSettings,
};
use fleet_core::watchdog;
use fleet_host::git::{CommitMarks, Workspace};
use fleet_host::log::CappedLog;
use fleet_host::process::{self, Exit, ProcessTree, Started, StopSequence};
use fleet_store::ops;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Keeper;
use super::agent_stdin::AgentStdin;
use super::journal::{DecodedOutput, Journal, Stored};
use super::lease::{Orders, WaitingCount};
use super::mailbox::Mailbox;
use super::prepare::PreparedRun;
use super::pump::{AgentOutput, Pump, PumpSource};
use super::tally::Pricing;
use crate::agents::Terms;
use crate::clock;
use effects::FinishedWork;
use record::RecordReader;

/// A process that waits for a dead disk cannot be killed; the keeper waits no longer for it than this.
const KILL_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) struct AgentEnd {
    pub(super) exit: AgentExit,
    pub(super) stopped: Option<StopCause>,
    pub(super) heard: DecodedOutput,
    /// What it said last, if the store does not know it yet.
    pub(super) last: Option<ops::AppendRunEvents>,
    /// How much of its output the store has with that.
    stored: Stored,
}

impl AgentEnd {
    pub(super) fn not_started(reason: Reason, why: String) -> Self {
        let heard = DecodedOutput {
            failure: Some(AgentFailure::new(reason, why.clone())),
            ..DecodedOutput::default()
        };
        Self { exit: AgentExit::NotStarted(why), stopped: None, heard, last: None, stored: Stored::default() }
    }
}

impl Keeper<'_> {
    fn settings(&self, adapter: &dyn Adapter) -> SupervisionSettings {
        let (limits, Bounds { tokens, micro_usd }) = (self.task.spec.limits, self.use_bounds());
        SupervisionSettings {
            bounds: watchdog::WatchdogLimits {
                time: limits.seconds.map(Duration::from_secs).or(self.config.limits().time),
                idle: limits.idle_seconds.map(Duration::from_secs).or(self.config.limits().idle),
                tokens,
                micro_usd,
                snapshot_every: self.config.workspaces().snapshot_every,
            },
            limits: self.task_bounds(),
            has_reservation: self.run.reserved != Bounds::default(),
            warn_percent: self.config.spending().warn_percent,
            has_record: adapter.record("").is_some(),
        }
    }

    fn task_bounds(&self) -> Bounds {
        let limits = self.task.spec.limits;
        Bounds { tokens: limits.tokens, micro_usd: limits.micro_usd }
    }

    /// What the agent may use: the limits of its task, and what is reserved for it.
    fn use_bounds(&self) -> Bounds {
        self.task_bounds().stricter(self.run.reserved)
    }

    /// What its tokens cost. Where a bound on money has to hold, a model without a known price costs the most that any
    /// does: a limit that counts nothing is not a limit.
    fn pricing(&self) -> Pricing {
        let Terms { prices, model, .. } = &self.terms;
        let fallback = self.use_bounds().micro_usd.and_then(|_| prices.highest());
        Pricing { prices: prices.clone(), model: model.clone(), fallback }
    }

    pub(super) fn stop_sequence(&self) -> StopSequence {
        StopSequence {
            ask: None,
            ask_grace: Duration::ZERO,
            term_grace: self.config.limits().stop_grace,
            kill_patience: KILL_TIMEOUT,
        }
    }

    fn supervisor<'k>(
        &'k self,
        AgentProcess { adapter, ask, started, tree, mailbox, record }: AgentProcess<'k>,
        journal: Journal,
        prepared: &PreparedRun,
        secrets: &[Vec<u8>],
    ) -> Result<Supervisor<'k>, String> {
        let pump = Pump::new();
        let cap = self.config.limits().log;
        let path = self.folder.stdout();
        let out = CappedLog::open(&path, cap).map_err(|error| format!("{}: {error}", path.display()))?;
        let journal = journal.after_position(out.position());
        let err = CappedLog::when_written(&self.folder.stderr(), cap);
        for (stream, pipe, log) in [(Stream::Out, started.stdout, out), (Stream::Err, started.stderr, err)] {
            let source = PumpSource { stream, pipe, log, redactor: Redactor::new(secrets.to_vec()) };
            pump.add(source).map_err(|error| error.to_string())?;
        }
        let mut orders = self.orders.clone();
        // One that came earlier counts as well.
        orders.mark_changed();
        Ok(Supervisor {
            keeper: self,
            adapter,
            ask,
            tree,
            root: started.identity.pid,
            workspace: Arc::clone(&prepared.workspace),
            supervision: Supervision::new(self.settings(adapter), clock::uptime()),
            pump,
            stdin: AgentStdin::new(started.stdin).map_err(|error| error.to_string())?,
            journal,
            record,
            mailbox,
            marks: None,
            children: signal(SignalKind::child()).map_err(|error| error.to_string())?,
            orders,
            waiting: self.hold.waiting.clone(),
            background: JoinSet::new(),
        })
    }
}

struct AgentProcess<'k> {
    adapter: &'k dyn Adapter,
    ask: Option<Ask>,
    started: Started,
    tree: ProcessTree,
    mailbox: Mailbox,
    record: RecordReader,
}

/// Waits for what happens to an agent, and does what its [`Supervision`] decides.
struct Supervisor<'k> {
    keeper: &'k Keeper<'k>,
    adapter: &'k dyn Adapter,
    /// How this kind of agent is asked to stop before it is made to.
    ask: Option<Ask>,
    tree: ProcessTree,
    root: i32,
    workspace: Arc<Workspace>,
    supervision: Supervision,
    pump: Pump,
    stdin: AgentStdin,
    journal: Journal,
    record: RecordReader,
    mailbox: Mailbox,
    /// How the agent's repository looked when its commits were last published.
    marks: Option<CommitMarks>,
    children: Signal,
    orders: Orders,
    waiting: WaitingCount,
    background: JoinSet<FinishedWork>,
}

impl Supervisor<'_> {
    async fn supervise(mut self) -> AgentEnd {
        let verdict = self.verdict().await;
        let now = clock::now();
        self.journal.close(Stream::Out, now);
        self.journal.close(Stream::Err, now);
        let heard = self.journal.end(&verdict.exit, now);
        if let Some(warning) = self.supervision.unmetered(&verdict, self.used()) {
            self.warn(warning.to_owned());
        }
        self.note_seen();
        if verdict.exit.is_success() && heard.failure.is_none() {
            // An agent that says nothing itself has done what it was started with.
            self.mailbox.start_was_seen();
        }
        let last = self.last_events().await;
        let SupervisionEnd { exit, stopped } = verdict;
        AgentEnd { exit, stopped, heard, last, stored: self.journal.stored() }
    }

    async fn verdict(&mut self) -> SupervisionEnd {
        self.speak();
        let mut input = Input::Status(self.status());
        loop {
            for effect in self.supervision.on(input, clock::uptime()) {
                match effect {
                    Effect::Start(work) => self.start(work),
                    Effect::Warn(text) => self.warn(text),
                    Effect::CloseInput => self.stdin.close(),
                    Effect::End(verdict) => return verdict,
                }
            }
            input = self.next_input().await;
        }
    }

    async fn next_input(&mut self) -> Input {
        loop {
            if self.supervision.is_running()
                && let Some(exit) = self.reap()
            {
                return Input::Exited(exit);
            }
            if self.orders.has_changed().unwrap_or(false)
                && let Some(order) = self.orders.borrow_and_update().clone()
            {
                return Input::Order(order);
            }
            let pause = self.supervision.wake_at().saturating_sub(clock::uptime());
            if pause.is_zero() {
                return Input::Wake;
            }
            let may_tell = self.stdin.is_open() && self.supervision.takes_messages();
            tokio::select! {
                piece = self.pump.pieces.recv(), if self.supervision.takes_output() => return self.take(piece),
                Ok(()) = self.waiting.changed(), if may_tell => return Input::MessagesWait,
                Some(Ok(ended)) = self.background.join_next() => return self.ended(ended),
                // These are looked at above, in that order.
                _ = self.children.recv() => {}
                Ok(()) = self.orders.changed() => self.orders.mark_changed(),
                () = sleep(pause) => {}
            }
        }
    }

    /// Reaps what ended; says how the agent itself did.
    fn reap(&self) -> Option<AgentExit> {
        let (_, exit) = process::reap().into_iter().find(|(pid, _)| *pid == self.root)?;
        Some(match exit {
            Exit::Code(code) => AgentExit::Code(code),
            Exit::Signal(signal) => AgentExit::Signal(signal),
        })
    }

    fn take(&mut self, piece: Option<AgentOutput>) -> Input {
        let Some(AgentOutput::Bytes(stream, bytes)) = piece else { return Input::PipeClosed };
        let shows_work = self.journal.push(stream, &bytes, clock::now());
        self.speak();
        Input::Output { shows_work, status: self.status() }
    }

    fn used(&self) -> Used {
        let totals = self.journal.totals();
        let tokens = totals.input_tokens.saturating_add(totals.output_tokens);
        Used { tokens, micro_usd: totals.micro_usd }
    }

    fn status(&mut self) -> AgentStatus {
        let remedy = self.journal.guess_remedy(&self.keeper.run.agent);
        let guess = self.journal.guess().zip(remedy);
        AgentStatus {
            used: self.used(),
            is_done: self.journal.is_over(),
            hopeless: self.journal.hopeless(),
            price_guess: guess.map(|(text, remedy)| PriceGuess { text, remedy }),
            backlog: match (self.journal.is_empty(), self.journal.is_full()) {
                (_, true) => Backlog::Full,
                (false, false) => Backlog::Waiting,
                (true, false) => Backlog::Empty,
            },
        }
    }

    /// Writes what the agent's protocol needs.
    fn speak(&mut self) {
        let words = self.journal.reply();
        self.stdin.write(words);
        self.note_seen();
    }

    /// Gives the agent what others have to say, as far as it takes it; the rest is for the next run.
    fn deliver(&mut self, messages: Vec<Message>) {
        let mut delivered = Vec::new();
        for message in messages {
            if !self.stdin.is_open() || !self.journal.prompt(&message.delivered_text()) {
                break;
            }
            let words = self.journal.reply();
            self.stdin.write(words);
            if !self.stdin.is_open() {
                // It has not read what was said before, so it does not have this either.
                break;
            }
            delivered.push(message.id.seq);
        }
        self.mailbox.mark_delivered(delivered);
    }

    /// Leaves receipts for what the agent has shown to have. What is only in its input, or in a queue, is lost when it
    /// ends, and is then told to the next one.
    fn note_seen(&mut self) {
        if self.journal.has_begun() {
            self.mailbox.start_was_seen();
        }
        self.mailbox.input_was_seen(self.journal.taken());
    }

    fn warn(&mut self, text: String) {
        self.journal.warn(text, clock::now());
    }

    /// Waits for all that is under way. What is not stored then is stored with the end of the run.
    async fn last_events(&mut self) -> Option<ops::AppendRunEvents> {
        self.until_ended(&[BackgroundWork::Store]).await;
        let keeper = self.keeper;
        keeper.bounded(self.until_ended(&[BackgroundWork::Snapshot, BackgroundWork::Publish])).await;
        self.mailbox.close().await;
        (!self.journal.is_empty()).then(|| self.journal.batch(clock::now()))
    }

    async fn until_ended(&mut self, works: &[BackgroundWork]) {
        while works.iter().any(|work| self.supervision.is_under_way(*work))
            && let Some(ended) = self.background.join_next().await
        {
            if let Ok(ended) = ended {
                let input = self.ended(ended);
                // It is over: nothing follows from it.
                let _ = self.supervision.on(input, clock::uptime());
            }
        }
    }
}
