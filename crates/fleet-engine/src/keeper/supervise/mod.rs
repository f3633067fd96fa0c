//! Supervising an agent that was started, until nothing of it is left.
//!
//! What to do is decided in [`fleet_core::supervision`]. Here its inputs are waited for, and its effects carried out.

mod begin;
mod connect;
mod effects;
mod record;
mod stop;
mod terminal;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use fleet_agents::{Adapter, AgentFailure, Ask, Stream};
use fleet_core::budget::{Bounds, Used};
use fleet_core::outcome::{AgentExit, StopCause};
use fleet_core::run::{Reason, StopKind};
use fleet_core::supervision::{
    AgentStatus, Asking, BackgroundWork, Backlog, Effect, Input, Order, PriceGuess, Supervision,
    SupervisionEnd, SupervisionSettings,
};
use fleet_core::watchdog;
use fleet_host::git::{CommitMarks, Workspace};
use fleet_host::process::{self, Exit, ProcessTree, StopSequence};
use fleet_store::ops;
use tokio::signal::unix::Signal;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Keeper;
use super::agent_stdin::AgentStdin;
use super::freeze::Freezer;
use super::journal::{DecodedOutput, Journal, Stored};
use super::lease::{Orders, WaitingCount};
use super::mailbox::{Mailbox, ReadyMessage};
use super::pump::{AgentOutput, Pump};
use super::tally::Pricing;
use crate::agents::Terms;
use crate::clock;
use crate::terminal::TerminalEnd;
use effects::FinishedWork;
use record::RecordReader;
use terminal::{SupervisedTerminal, next_event};

/// A process that waits for a dead disk cannot be killed; the keeper waits no longer for it than this.
const KILL_TIMEOUT: Duration = Duration::from_secs(20);

/// How often to look whether an agent has read what was written to its input.
const READ_INTERVAL: Duration = Duration::from_millis(50);

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
        let (mode, configured) = (self.run.mode, self.config.limits());
        SupervisionSettings {
            bounds: watchdog::WatchdogLimits {
                time: mode.time_limit(limits.seconds, configured.time),
                idle: mode.time_limit(limits.idle_seconds, configured.idle),
                tokens,
                micro_usd,
                snapshot_every: self.config.workspaces().snapshot_every,
            },
            limits: self.task_bounds(),
            has_reservation: self.run.reserved != Bounds::default(),
            warn_percent: self.config.spending().warn_percent,
            has_record: self.record_of(adapter, "").is_some(),
            // In a terminal a person decides.
            context_pressure: Some(configured.context_pressure)
                .filter(|percent| *percent > 0 && !mode.is_interactive()),
        }
    }

    /// What those read who look at its terminal.
    fn terminal_end(&self, SupervisionEnd { exit, stopped }: &SupervisionEnd) -> TerminalEnd {
        let continues = stopped.is_some()
            && matches!(&*self.orders.borrow(), Some(Order::Stop(stop)) if stop.kind == StopKind::Switch);
        let why = match stopped {
            Some(cause) if continues => format!("the agent {}", cause.text()),
            Some(cause) => format!("the agent ended: {}", cause.text()),
            None if exit.is_success() => "the agent has ended".to_owned(),
            None => exit.to_string(),
        };
        TerminalEnd { why, continues }
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
    /// Where it runs, if that is a terminal.
    terminal: Option<SupervisedTerminal>,
    journal: Journal,
    record: RecordReader,
    mailbox: Mailbox,
    /// What was taken from the mailbox and the agent has not taken yet: at most one batch.
    undelivered: VecDeque<ReadyMessage>,
    /// Whether the batch before may not have been the last.
    more_wait: bool,
    /// How the agent's repository looked when its commits were last published.
    marks: Option<CommitMarks>,
    children: Signal,
    orders: Orders,
    freezer: Freezer,
    waiting: WaitingCount,
    asking: watch::Receiver<Asking>,
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
            // So does one that closed because of what was typed.
            if let Some(seq) = self.terminal.as_ref().and_then(SupervisedTerminal::entered) {
                self.mailbox.typed_was_seen(seq);
            }
        }
        let last = self.last_events().await;
        let end = self.keeper.terminal_end(&verdict);
        if let Some(terminal) = self.terminal {
            terminal.end(end, self.keeper.folder.last_lines()).await;
        }
        let SupervisionEnd { exit, stopped } = verdict;
        AgentEnd { exit, stopped, heard, last, stored: self.journal.stored() }
    }

    async fn verdict(&mut self) -> SupervisionEnd {
        self.speak();
        let mut input = Input::Status(self.status());
        if self.terminal.is_some() {
            // Nothing was put into the text that starts it.
            let effects = self.supervision.on(Input::MessagesWait, self.freezer.now());
            self.carry_out(effects);
        }
        loop {
            let effects = self.supervision.on(input, self.freezer.now());
            if let Some(verdict) = self.carry_out(effects) {
                return verdict;
            }
            input = self.next_input().await;
        }
    }

    /// Does what was decided. How the agent ended, if it did.
    fn carry_out(&mut self, effects: Vec<Effect>) -> Option<SupervisionEnd> {
        for effect in effects {
            match effect {
                Effect::Start(work) => self.start(work),
                Effect::Warn(text) => self.warn(text),
                Effect::CloseInput => self.stdin.close(),
                Effect::End(verdict) => return Some(verdict),
            }
        }
        None
    }

    async fn next_input(&mut self) -> Input {
        loop {
            if self.supervision.is_running()
                && let Some(exit) = self.reap()
            {
                self.freezer.agent_ended();
                return Input::Exited(exit);
            }
            if self.freezer.order.has_changed().unwrap_or(false) {
                self.freezer.obey(&self.tree).await;
            }
            if self.orders.has_changed().unwrap_or(false)
                && let Some(order) = self.orders.borrow_and_update().clone()
            {
                return Input::Order(order);
            }
            let pause = self.supervision.wake_at().saturating_sub(self.freezer.now());
            if pause.is_zero() {
                return Input::Wake;
            }
            let may_tell = self.may_tell_more();
            if may_tell && std::mem::take(&mut self.more_wait) {
                return Input::MessagesWait;
            }
            let pause = if self.stdin.has_room() { pause } else { pause.min(READ_INTERVAL) };
            tokio::select! {
                piece = self.pump.pieces.recv(), if self.supervision.takes_output() => return self.take(piece),
                Ok(()) = self.waiting.changed(), if may_tell => return Input::MessagesWait,
                Some(Ok(ended)) = self.background.join_next() => return self.ended(ended),
                event = next_event(&mut self.terminal) => {
                    if let Some(input) = self.terminal_event(event) {
                        return input;
                    }
                }
                Ok(()) = self.asking.changed() => {
                    let asking = *self.asking.borrow_and_update();
                    return Input::Asking(asking);
                }
                // These are looked at above, in that order.
                _ = self.children.recv() => {}
                Ok(()) = self.orders.changed() => self.orders.mark_changed(),
                Ok(()) = self.freezer.order.changed() => self.freezer.order.mark_changed(),
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
            context: self.journal.context(&self.keeper.terms.context_sizes),
            is_done: self.journal.is_over(),
            // In a terminal a person can log in, or choose another model.
            hopeless: self.journal.hopeless().filter(|_| self.terminal.is_none()),
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

    /// Delivers what is at hand; whether more may be taken from the store.
    fn may_tell_more(&mut self) -> bool {
        if !self.supervision.takes_messages() {
            return false;
        }
        if self.terminal.is_some() {
            return self.queue_prompts();
        }
        self.deliver();
        self.stdin.is_open() && self.undelivered.is_empty()
    }

    /// Gives the agent what others have to say, as far as it takes it now. The rest is tried again when it has read more;
    /// what it never takes is for the next run.
    fn deliver(&mut self) {
        let mut delivered = Vec::new();
        while let Some(message) = self.undelivered.front() {
            if !self.stdin.is_open() || !self.stdin.has_room() || !self.journal.prompt(&message.text) {
                break;
            }
            let words = self.journal.reply();
            self.stdin.write(words);
            if !self.stdin.is_open() {
                // It has not read what was said before, so it does not have this either.
                break;
            }
            delivered.push(message.seq);
            self.undelivered.pop_front();
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
                let _ = self.supervision.on(input, self.freezer.now());
            }
        }
    }
}
