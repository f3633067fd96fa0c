//! How a keeper supervises its agent: what to do next, decided from what happened and from the time.
//!
//! Owns every decision between the start of an agent and the moment when nothing of it is left: limits, orders, the
//! budget, batches for the store, snapshots, and how it ended. Must never do any of it: the owner of a [`Supervision`]
//! feeds it [`Input`] and carries out each [`Effect`].
//!
//! Time is how long the machine was awake, see [`crate::watchdog`].

mod decide;
mod input;
mod spending;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

pub use input::{AgentStatus, Asking, Backlog, Input, Order, PriceGuess, SupervisionSettings};

use crate::backoff::Backoff;
use crate::outcome::{AgentExit, StopCause};
use crate::run::{ContextUse, Reason};
use crate::watchdog::{Overrun, Watchdog};

/// How long the pipes are read after every process of the agent is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest sleep: processes whose parents ended become children of the keeper, which has to reap them.
const REAP_INTERVAL: Duration = Duration::from_secs(5);
/// How often the keeper checks for new commits of the agent.
const COMMIT_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// A repository that refuses commits (full, not writable) is tried again after this at the latest.
const LONGEST_PUBLISH_PAUSE: Duration = Duration::from_mins(1);

/// Something that takes time. Each is under way at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BackgroundWork {
    /// Store the events that wait.
    Store,
    Snapshot,
    /// See whether a silent agent works.
    Probe,
    /// Bring new commits to the user's repository.
    Publish,
    /// Ask for more of the budget.
    Reserve,
    /// Take the messages that wait, and deliver them.
    Deliver,
    /// Read the agent's record of the conversation.
    ReadRecord,
    /// Save the work, ask the agent to stop, then make it.
    Stop,
    /// End an agent that is done and does not exit.
    EndFinished,
    /// End the processes that the agent left behind.
    EndRemaining,
}

/// What the caller must do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Begin something; its end comes back as an [`Input`].
    Start(BackgroundWork),
    Warn(String),
    /// Tell the agent that no more input follows.
    CloseInput,
    /// Nothing of the agent is left, and all of its output was taken. Comes once, as the last effect.
    End(SupervisionEnd),
}

/// How the agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisionEnd {
    /// How its process exited. One that was done and had to be ended counts as a success.
    pub exit: AgentExit,
    pub stopped: Option<StopCause>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// It exited; the rest of its processes is being ended.
    Ending,
    /// All of its processes are gone; output may be left in the pipes until this moment.
    Draining {
        until: Duration,
    },
    /// The record is read once more. What it gave may be older than the end.
    Recording {
        is_last: bool,
    },
    Over,
}

/// Supervises one process of an agent.
#[derive(Debug)]
pub struct Supervision {
    settings: SupervisionSettings,
    phase: Phase,
    watchdog: Watchdog,
    under_way: BTreeSet<BackgroundWork>,
    order: Option<Order>,
    hopeless: Option<(Reason, String)>,
    context: Option<ContextUse>,
    /// Since when the agent says that it is done.
    done_since: Option<Duration>,
    /// What it asks people.
    asking: Asking,
    /// Whether it was made to exit after it had said so.
    was_ended: bool,
    stopped: Option<StopCause>,
    exit: Option<AgentExit>,
    open_pipes: usize,
    backlog: Backlog,
    flush_at: Option<Duration>,
    flushed_at: Option<Duration>,
    commits_at: Duration,
    publish_backoff: Backoff,
    record_at: Duration,
    price_guess: Option<PriceGuess>,
    is_guess_told: bool,
    is_warned: bool,
    /// The last bound that was passed and for which more was asked for.
    asked_at: Option<Overrun>,
    wake_at: Duration,
    effects: Vec<Effect>,
}

impl Supervision {
    pub fn new(settings: SupervisionSettings, now: Duration) -> Self {
        Self {
            watchdog: Watchdog::new(settings.bounds, now),
            settings,
            phase: Phase::Running,
            under_way: BTreeSet::new(),
            order: None,
            hopeless: None,
            context: None,
            done_since: None,
            asking: Asking::default(),
            was_ended: false,
            stopped: None,
            exit: None,
            open_pipes: 2,
            backlog: Backlog::Empty,
            flush_at: None,
            flushed_at: None,
            commits_at: now + COMMIT_POLL_INTERVAL,
            publish_backoff: Backoff::new(COMMIT_POLL_INTERVAL, LONGEST_PUBLISH_PAUSE),
            record_at: now,
            price_guess: None,
            is_guess_told: false,
            is_warned: false,
            asked_at: None,
            wake_at: now,
            effects: Vec::new(),
        }
    }

    /// Takes what happened. While the agent runs, decisions are made at [`Input::Wake`], which is due at once after any
    /// other input: so an exit that is known by then comes first, and the verdict is how the agent ended by itself.
    #[must_use]
    pub fn on(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        let is_wake = input == Input::Wake;
        self.note(input, now);
        self.wake_at = match self.phase {
            Phase::Running if is_wake => self.decide(now),
            Phase::Running => now,
            _ => self.wind_up(now),
        };
        std::mem::take(&mut self.effects)
    }

    /// When to feed [`Input::Wake`], unless something happens before.
    pub const fn wake_at(&self) -> Duration {
        self.wake_at
    }

    pub const fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    /// Whether output is to be taken: not while so much waits for the store that the agent has to wait as well.
    pub const fn takes_output(&self) -> bool {
        self.open_pipes > 0 && !matches!(self.backlog, Backlog::Full)
    }

    /// Whether the agent accepts messages now.
    pub fn takes_messages(&self) -> bool {
        self.is_running() && self.stopped.is_none() && !self.is_under_way(BackgroundWork::Deliver)
    }

    pub fn is_under_way(&self, work: BackgroundWork) -> bool {
        self.under_way.contains(&work)
    }

    fn note(&mut self, input: Input, now: Duration) {
        match input {
            Input::Status(status) => self.observe(status),
            Input::Output { shows_work, status } => self.output(shows_work, status, now),
            Input::PipeClosed => self.open_pipes = self.open_pipes.saturating_sub(1),
            Input::Order(order) => self.order = Some(order),
            Input::MessagesWait if self.takes_messages() => self.start(BackgroundWork::Deliver),
            Input::Wake | Input::MessagesWait => {}
            Input::Asking(asking) => self.asking(asking, now),
            Input::Exited(exit) => self.exited(exit),
            Input::Ended(work) => self.ended(work, now),
            Input::Probed(activity) => {
                self.under_way.remove(&BackgroundWork::Probe);
                self.watchdog.probed(activity, now);
            }
            Input::Published { is_done } => self.published(is_done, now),
            Input::Reserved(bounds) => {
                self.under_way.remove(&BackgroundWork::Reserve);
                self.reserved(bounds);
            }
            Input::RecordRead(status) => {
                self.under_way.remove(&BackgroundWork::ReadRecord);
                self.observe(status);
            }
        }
    }

    fn asking(&mut self, asking: Asking, now: Duration) {
        self.asking = asking;
        if asking.waiting > 0 {
            self.watchdog.asks(now);
        } else {
            self.watchdog.is_answered(now);
        }
    }

    fn output(&mut self, shows_work: bool, status: AgentStatus, now: Duration) {
        if shows_work {
            self.watchdog.saw_output(now);
        } else {
            self.watchdog.tried();
        }
        let is_done = status.is_done;
        self.observe(status);
        if is_done {
            self.done_since.get_or_insert(now);
            self.effects.push(Effect::CloseInput);
        } else {
            self.done_since = None;
        }
    }

    fn observe(&mut self, status: AgentStatus) {
        let AgentStatus { used, context, hopeless, price_guess, backlog, .. } = status;
        self.context = context;
        self.backlog = backlog;
        self.hopeless = hopeless.or_else(|| self.hopeless.take());
        self.price_guess = price_guess;
        self.watchdog.used(used.tokens, used.micro_usd);
        if self.is_running() {
            self.tell_guess();
            self.check_reservation();
        }
    }

    fn exited(&mut self, exit: AgentExit) {
        if self.phase == Phase::Running {
            // What ended it was our signal, and says nothing about its work.
            self.exit = Some(if self.was_ended { AgentExit::Code(0) } else { exit });
            self.phase = Phase::Ending;
        }
    }

    fn ended(&mut self, work: BackgroundWork, now: Duration) {
        self.under_way.remove(&work);
        match (work, self.phase) {
            (BackgroundWork::EndRemaining, Phase::Ending) => {
                self.phase = Phase::Draining { until: now + DRAIN_TIMEOUT }
            }
            // No output was taken while the store did not answer.
            (BackgroundWork::Store, Phase::Draining { .. }) if self.backlog == Backlog::Full => {
                self.phase = Phase::Draining { until: now + DRAIN_TIMEOUT };
            }
            _ => {}
        }
    }

    /// A failure is retried, ever less often. Commits that never get through are reported at the end.
    fn published(&mut self, is_done: bool, now: Duration) {
        self.under_way.remove(&BackgroundWork::Publish);
        if is_done {
            self.publish_backoff.succeeded();
        } else {
            self.publish_backoff.failed(now);
        }
    }

    /// What is due after the agent's exit; returns when to wake up.
    fn wind_up(&mut self, now: Duration) -> Duration {
        // The rest is stored with the end of the run, but an agent that floods must not fill memory.
        let is_over = self.phase == Phase::Over;
        if self.backlog == Backlog::Full && !is_over && !self.is_under_way(BackgroundWork::Store) {
            self.store();
        }
        match self.phase {
            Phase::Ending => self.end_remaining(),
            Phase::Draining { until } if self.backlog != Backlog::Full => {
                if self.open_pipes > 0 && now < until {
                    return until;
                }
                self.phase = Phase::Recording { is_last: false };
                self.read_last_record();
            }
            Phase::Recording { .. } => self.read_last_record(),
            _ => {}
        }
        now + REAP_INTERVAL
    }

    /// An agent that is gone has no business going on in the background.
    fn end_remaining(&mut self) {
        let is_stopping =
            self.is_under_way(BackgroundWork::Stop) || self.is_under_way(BackgroundWork::EndFinished);
        if !is_stopping {
            self.start(BackgroundWork::EndRemaining);
        }
    }

    fn read_last_record(&mut self) {
        if self.is_under_way(BackgroundWork::ReadRecord) {
            return;
        }
        if self.settings.has_record && self.phase == (Phase::Recording { is_last: false }) {
            self.phase = Phase::Recording { is_last: true };
            return self.start(BackgroundWork::ReadRecord);
        }
        self.phase = Phase::Over;
        if let Some(exit) = self.exit.take() {
            self.effects.push(Effect::End(SupervisionEnd { exit, stopped: self.stopped.clone() }));
        }
    }

    fn start(&mut self, work: BackgroundWork) {
        if self.under_way.insert(work) {
            self.effects.push(Effect::Start(work));
        }
    }

    fn warn(&mut self, text: String) {
        // A warning is an event as well.
        self.backlog = self.backlog.max(Backlog::Waiting);
        self.effects.push(Effect::Warn(text));
    }
}
