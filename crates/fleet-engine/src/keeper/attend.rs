//! Attending to an agent that was started, until nothing of it is left.

use std::sync::Arc;
use std::time::Duration;

use fleet_agents::{Ask, Failure, Stream};
use fleet_core::outcome::{AgentExit, Stop};
use fleet_core::prompt;
use fleet_core::redact::Redactor;
use fleet_core::run::{Reason, RunMove, StopKind};
use fleet_core::watchdog::{Bounds, Next, Overrun, Pulse, Watchdog};
use fleet_host::git::Workspace;
use fleet_host::log::CappedLog;
use fleet_host::process::{self, Exit, Identity, Ladder, Processes, Started, Tree};
use fleet_store::{StoreError, ops};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep, sleep_until, timeout, timeout_at};

use super::journal::{self, Heard, Journal};
use super::lease::Order;
use super::prepare::Prepared;
use super::pump::{Piece, Pump, Source};
use super::voice::Voice;
use super::{Keeper, blocking};
use crate::{clock, closing, fault};

/// Events wait for company this long before they are stored.
const COMPANY: Duration = Duration::from_millis(200);
/// What is left in the pipes after everybody is gone is read for so long.
const DRAIN: Duration = Duration::from_secs(5);
/// The work is put in safety before an agent is told to stop, for so long at most.
const BEFORE_STOP: Duration = Duration::from_secs(5);
/// A process that waits for a dead disk cannot be killed; nobody waits longer for it than this.
const KILL_PATIENCE: Duration = Duration::from_secs(20);
/// An agent that was asked to stop in its own words has so long to do it.
const ANSWER: Duration = Duration::from_secs(2);
/// An agent that said that it is through has so long to end by itself.
const LINGER: Duration = Duration::from_secs(20);
/// Processes whose parents ended come to the keeper; so often it looks for those that ended themselves.
const TIDY: Duration = Duration::from_secs(5);

/// What was seen of the agent.
pub(super) struct Seen {
    pub(super) exit: AgentExit,
    pub(super) stopped: Option<Stop>,
    pub(super) heard: Heard,
}

impl Seen {
    pub(super) fn not_started(reason: Reason, why: String) -> Self {
        let heard = Heard { failure: Some(Failure::new(reason, why.clone())), ..Heard::default() };
        Self { exit: AgentExit::NotStarted(why), stopped: None, heard }
    }
}

impl Keeper<'_> {
    /// Starts the agent, follows it, and ends all that it started.
    pub(super) async fn attend(&self, prepared: &Prepared) -> Seen {
        let Some(adapter) = self.agents.find(&self.run.agent) else {
            let why = format!("there is no agent called `{}` here", self.run.agent);
            return Seen::not_started(Reason::AgentMissing, why);
        };
        let briefing = match self.briefing(prepared).await {
            Ok(briefing) => briefing,
            Err(why) => return Seen::not_started(Reason::SetupFailed, why),
        };
        let brief = briefing.brief();
        let (started, tree) = match self.start(adapter, &brief, prepared) {
            Ok(started) => started,
            Err((reason, why)) => return Seen::not_started(reason, why),
        };
        let journal = Journal::new(self.run.id, self.run.fence, adapter.decoder(&brief), 0);
        let attendance = match self.attendance(started, journal, prepared, &tree) {
            Ok(attendance) => {
                let last_prompt = briefing.told.iter().copied().max().unwrap_or(0);
                Attendance { ask: adapter.plan(&brief).ask, last_prompt, ..attendance }
            }
            Err(why) => {
                let ladder = self.ladder();
                let _ = blocking(move || tree.kill_now(ladder.kill_patience, &mut || drop(process::reap())))
                    .await;
                return Seen::not_started(Reason::SetupFailed, why);
            }
        };
        fault::point(self.engine, "keeper-launched").await;
        let (run, fence, now) = (self.run.id, self.run.fence, self.engine.now());
        let moved = self.call(ops::AdvanceRun { run, fence, event: RunMove::Start, now });
        // A refusal means that the run is lost, which the lease tells as well; a store that is out of reach is no
        // reason to stop an agent that has just begun.
        let _ = timeout(DRAIN, moved).await;
        self.has_heard(&briefing.told).await;
        attendance.follow().await
    }

    fn bounds(&self) -> Bounds {
        let limits = self.task.spec.limits;
        Bounds {
            time: limits.seconds.map(Duration::from_secs).or(self.config.limits().time),
            idle: self.config.limits().idle,
            tokens: least(limits.tokens, self.run.reserved.tokens),
            micro_usd: least(limits.micro_usd, self.run.reserved.micro_usd),
            snapshot_every: self.config.workspaces().snapshot_every,
        }
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

    fn attendance(
        &self,
        started: Started,
        journal: Journal,
        prepared: &Prepared,
        tree: &Tree,
    ) -> Result<Attendance<'_>, String> {
        let pump = Pump::new();
        let cap = self.config.limits().log;
        let pipes = [
            (Stream::Out, started.stdout, self.folder.stdout()),
            (Stream::Err, started.stderr, self.folder.stderr()),
        ];
        for (stream, pipe, path) in pipes {
            let log = CappedLog::open(&path, cap).map_err(|error| format!("{}: {error}", path.display()))?;
            let source = Source { stream, pipe, log, redactor: Redactor::new(self.secrets()) };
            pump.add(source).map_err(|error| error.to_string())?;
        }
        Ok(Attendance {
            keeper: self,
            tree: tree.clone(),
            root: started.identity.pid,
            pump,
            open_pipes: 2,
            voice: Voice::new(started.stdin).map_err(|error| error.to_string())?,
            journal,
            dog: Watchdog::new(self.bounds(), clock::uptime()),
            workspace: Arc::clone(&prepared.workspace),
            children: signal(SignalKind::child()).map_err(|error| error.to_string())?,
            writing: None,
            saving: None,
            stopping: None,
            stopped: None,
            last_prompt: 0,
            hearing: None,
            feeling: None,
            over_since: None,
            was_over: false,
            ask: None,
        })
    }
}

/// Everything that goes on while an agent is at work.
struct Attendance<'k> {
    keeper: &'k Keeper<'k>,
    tree: Tree,
    root: i32,
    pump: Pump,
    open_pipes: usize,
    voice: Voice,
    journal: Journal,
    dog: Watchdog,
    workspace: Arc<Workspace>,
    children: Signal,
    /// A batch on its way to the store; one at a time, so that they arrive in order.
    writing: Option<JoinHandle<Result<(), StoreError>>>,
    /// The number of the last prompt of a person that the agent was given.
    last_prompt: i64,
    /// Prompts of people on their way from the store.
    hearing: Option<JoinHandle<Vec<prompt::Prompt>>>,
    /// A look at the processes of a silent agent.
    feeling: Option<JoinHandle<Pulse>>,
    /// When the agent said that it is through.
    over_since: Option<Duration>,
    /// Whether it was made to end after it had said so.
    was_over: bool,
    /// A snapshot being taken.
    saving: Option<JoinHandle<()>>,
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
        let now = clock::now();
        self.journal.close(Stream::Out, now);
        self.journal.close(Stream::Err, now);
        let heard = self.journal.end(&exit, now);
        self.store_the_rest().await;
        Seen { exit, stopped: self.stopped, heard }
    }

    /// Until the agent itself has ended.
    async fn until_exit(&mut self) -> AgentExit {
        let (mut orders, mut waiting) = (self.keeper.orders.clone(), self.keeper.hold.waiting.clone());
        let mut tidy = interval(TIDY);
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
            let store_at = company.filter(|_| self.writing.is_none());
            tokio::select! {
                piece = self.pump.pieces.recv(), if !self.journal.is_full() && self.open_pipes > 0 => {
                    self.take(piece);
                    if company.is_none() && !self.journal.is_empty() {
                        company = Some(Instant::now() + COMPANY);
                    }
                }
                _ = self.children.recv() => {}
                _ = orders.changed(), if self.stopped.is_none() => {}
                () = sleep_until(store_at.unwrap_or_else(Instant::now)), if store_at.is_some() => {
                    company = None;
                    self.write();
                }
                _ = waiting.changed(), if self.takes_prompts() && self.hearing.is_none() => self.hear(),
                prompts = came(&mut self.hearing) => self.pass_on(prompts),
                () = finished(&mut self.writing) => {}
                () = finished(&mut self.saving) => {}
                pulse = came(&mut self.feeling) => self.dog.felt(pulse, clock::uptime()),
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
            self.stop(match order {
                Order::Lost => Stop::Shutdown("the run was given to somebody else".to_owned()),
                Order::Stop(stop) if stop.kind == StopKind::Cancel => Stop::Killed(stop.why),
                Order::Stop(stop) => Stop::Shutdown(stop.why),
            });
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
            Next::Stop(overrun) => {
                let text = overrun.to_string();
                self.stop(match overrun {
                    Overrun::Time(_) => Stop::TimeLimit(text),
                    Overrun::Idle(_) => Stop::Idle(text),
                    Overrun::Tokens(_) => Stop::Tokens(text),
                    Overrun::Money(_) => Stop::Money(text),
                });
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
                self.dog.heard(clock::uptime());
                self.journal.push(stream, &bytes, clock::now());
                let totals = self.journal.totals();
                self.dog.used(totals.input_tokens.saturating_add(totals.output_tokens), totals.micro_usd);
                self.speak();
            }
            Some(Piece::End) => self.open_pipes -= 1,
            None => self.open_pipes = 0,
        }
    }

    /// Whether the agent may be told more while it works.
    fn takes_prompts(&self) -> bool {
        self.voice.is_open() && self.stopped.is_none()
    }

    /// Asks the store what people have said.
    fn hear(&mut self) {
        let (store, after) = (self.keeper.store.clone(), self.last_prompt);
        let take = ops::TakePrompts { run: self.keeper.run.id, fence: self.keeper.run.fence, after };
        self.hearing = Some(tokio::spawn(async move { store.call(take).await.unwrap_or_default() }));
    }

    /// Passes on what people have said, as far as the agent takes it; the rest is for the next run.
    fn pass_on(&mut self, prompts: Vec<prompt::Prompt>) {
        let mut told = Vec::new();
        for prompt in prompts {
            if !self.voice.is_open() || !self.journal.prompt(&prompt.text.to_string()) {
                break;
            }
            let words = self.journal.reply();
            self.voice.say(words);
            self.last_prompt = prompt.seq;
            told.push(prompt.seq);
        }
        let (store, run, fence) = (self.keeper.store.clone(), self.keeper.run.id, self.keeper.run.fence);
        tokio::spawn(async move {
            for seq in told {
                let _ = store.call(ops::PromptSent { run, fence, seq, now: clock::now() }).await;
            }
        });
    }

    /// Says what the decoder has to say. An agent that is through and not asked for more hears that nothing follows.
    fn speak(&mut self) {
        let words = self.journal.reply();
        self.voice.say(words);
        if self.journal.is_over() {
            self.voice.close();
            self.over_since.get_or_insert_with(clock::uptime);
        } else {
            self.over_since = None;
        }
    }

    /// How long an agent that said that it is through may still take to end; then it is made to.
    fn lingers(&mut self, now: Duration) -> Option<Duration> {
        let left = (self.over_since? + LINGER).saturating_sub(now);
        if left.is_zero() {
            self.over_since = None;
            let (tree, ladder) = (self.tree.clone(), self.keeper.ladder());
            self.stopping = Some(tokio::spawn(async move {
                let _ = tokio::task::spawn_blocking(move || drop(tree.stop(&ladder, &mut || {}))).await;
            }));
            self.was_over = true;
            return Some(TIDY);
        }
        Some(left)
    }

    /// Looks whether a silent agent works, beside everything else.
    fn feel(&mut self) {
        if self.feeling.is_some() {
            return;
        }
        let tree = self.tree.clone();
        self.feeling = Some(tokio::task::spawn_blocking(move || {
            let processes = Processes::scan();
            let usage = tree.usage_in(&processes);
            let io_bytes = tree.io_bytes_in(&processes);
            Pulse { cpu: usage.cpu, processes: usage.processes, io_bytes }
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

    /// Starts to stop everything. The work is put in safety first: an agent that is told to end may tidy up.
    fn stop(&mut self, why: Stop) {
        self.stopped = Some(why);
        let (workspace, run) = (Arc::clone(&self.workspace), self.keeper.run.id);
        let folder = self.keeper.folder.clone();
        let (tree, ladder) = (self.tree.clone(), asking(self.keeper.ladder(), self.ask));
        let is_told = self.ask == Some(Ask::Say) && self.journal.interrupt();
        if is_told {
            let words = self.journal.reply();
            self.voice.say(words);
            self.voice.close();
        }
        self.stopping = Some(tokio::spawn(async move {
            let save = move || closing::save_before_stop(&workspace, run, &folder);
            // A filter of the user's may take its time; whoever wants it stopped does not wait for that. The work is
            // put in safety once more when everybody is gone.
            let _ = timeout(BEFORE_STOP, tokio::task::spawn_blocking(save)).await;
            if is_told {
                let _ = timeout(ladder.term_grace.min(ANSWER), gone(&tree.root)).await;
            }
            let _ = tokio::task::spawn_blocking(move || drop(tree.stop(&ladder, &mut || {}))).await;
        }));
    }

    /// Ends what the agent left behind: an agent that is done has no business going on in the background.
    async fn end_the_rest(&mut self) {
        if let Some(stopping) = self.stopping.take() {
            while !stopping.is_finished() {
                // An agent that floods while it is told to end must not fill memory either.
                let is_full = self.journal.is_full();
                if is_full && self.writing.is_none() {
                    self.write();
                }
                tokio::select! {
                    piece = self.pump.pieces.recv(), if self.open_pipes > 0 && !is_full => self.take(piece),
                    () = finished(&mut self.writing) => {}
                    () = sleep(Duration::from_millis(5)) => {}
                }
            }
        }
        let (tree, ladder) = (self.tree.clone(), self.keeper.ladder());
        let _ = blocking(move || tree.stop(&ladder, &mut || drop(process::reap()))).await;
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
        if let Some(saving) = self.saving.take() {
            let _ = saving.await;
        }
    }
}

/// The ladder with its first rung: an agent that knows how to end in order gets as long for it as for the next one.
fn asking(ladder: Ladder, ask: Option<Ask>) -> Ladder {
    let signal = ask.and_then(|ask| match ask {
        Ask::Interrupt => Some(process::Signal::INT),
        Ask::HangUp => Some(process::Signal::HUP),
        Ask::Say => None,
    });
    let ask_grace = if signal.is_some() { ladder.term_grace } else { Duration::ZERO };
    Ladder { ask: signal, ask_grace, ..ladder }
}

/// Waits until a process has ended.
async fn gone(process: &Identity) {
    while process.is_alive() {
        sleep(Duration::from_millis(10)).await;
    }
}

/// What something that may be going on came to, once it did.
async fn came<T: Default>(work: &mut Option<JoinHandle<T>>) -> T {
    match work {
        Some(handle) => {
            let result = handle.await.unwrap_or_default();
            *work = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// The stricter of two bounds.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_agents_that_can_be_asked_are_asked() {
        let grace = Duration::from_secs(5);
        let plain = Ladder { ask: None, ask_grace: Duration::ZERO, term_grace: grace, kill_patience: grace };
        assert_eq!(asking(plain, None), plain);
        let asked = asking(plain, Some(Ask::Interrupt));
        assert_eq!((asked.ask, asked.ask_grace), (Some(process::Signal::INT), grace));
        assert_eq!(asking(plain, Some(Ask::HangUp)).ask, Some(process::Signal::HUP));
    }
}
