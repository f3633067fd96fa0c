//! What is due while the agent runs.

use std::time::Duration;

use super::{BackgroundWork, Backlog, COMMIT_POLL_INTERVAL, Order, REAP_INTERVAL, Supervision};
use crate::outcome::StopCause;
use crate::run::StopKind;
use crate::watchdog::{Overrun, WatchdogAction};

/// Events are batched this long before they are stored.
const FLUSH_DELAY: Duration = Duration::from_millis(200);
/// Events are stored at most this often: hundreds of agents share one store.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// An agent that said that it is done has this long to exit.
const EXIT_GRACE: Duration = Duration::from_secs(20);
/// How often the agent's record of the conversation is read: hardly any model answers faster.
const RECORD_POLL_INTERVAL: Duration = Duration::from_millis(500);

impl Supervision {
    /// Does what is due; returns when to wake up.
    pub(super) fn decide(&mut self, now: Duration) -> Duration {
        let pause = if self.stopped.is_some() { REAP_INTERVAL } else { self.stop_or_pause(now) };
        let mut wake_at = now + pause.min(REAP_INTERVAL);
        if self.stopped.is_none() {
            wake_at = wake_at.min(self.poll_commits(now));
        }
        if self.settings.has_record {
            wake_at = wake_at.min(self.poll_record(now));
        }
        self.flush(now).map_or(wake_at, |at| wake_at.min(at))
    }

    /// Stops the agent if there is a reason; the first that holds counts.
    fn stop_or_pause(&mut self, now: Duration) -> Duration {
        if let Some(order) = self.order.clone() {
            self.carry_out(order);
            return REAP_INTERVAL;
        }
        if self.asking.parks {
            // What it would do before the answer comes is not wanted, and its slot is.
            self.end_finished();
            return REAP_INTERVAL;
        }
        if let Some((reason, text)) = self.hopeless.take() {
            self.stop(StopCause::Hopeless(reason, text));
            return REAP_INTERVAL;
        }
        if let Some(left) = self.exit_grace_left(now) {
            return left;
        }
        if let Some(text) = self.full_context() {
            self.stop(StopCause::Context(text));
            return REAP_INTERVAL;
        }
        if self.backlog == Backlog::Full {
            // The agent may be silent because the store does not answer.
            self.watchdog.saw_output(now);
        }
        match self.watchdog.next(now) {
            WatchdogAction::Stop(overrun) if self.may_get_more(overrun) => REAP_INTERVAL,
            WatchdogAction::Stop(overrun) => {
                self.stop_at(overrun);
                REAP_INTERVAL
            }
            WatchdogAction::Probe => {
                self.start(BackgroundWork::Probe);
                REAP_INTERVAL
            }
            WatchdogAction::Snapshot => {
                self.watchdog.snapshotted(now);
                self.start(BackgroundWork::Snapshot);
                REAP_INTERVAL
            }
            WatchdogAction::Sleep(pause) => pause,
        }
    }

    /// What to say about a conversation that is nearly as long as the model can read.
    fn full_context(&self) -> Option<String> {
        let percent = self.settings.context_pressure?;
        let full = self.context.filter(|context| context.is_at(percent))?;
        Some(format!("its conversation has filled its model's context ({full})"))
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            // Its work is done, and would only be done again.
            Order::Stop(stop) if stop.kind != StopKind::Cancel && self.done_since.is_some() => {
                self.end_finished();
            }
            Order::Stop(stop) if stop.kind == StopKind::Cancel => self.stop(StopCause::Killed(stop.why)),
            Order::Stop(stop) => self.stop(StopCause::Shutdown(stop.why)),
            Order::Lost => self.stop(StopCause::Shutdown("the run was given to another keeper".to_owned())),
        }
    }

    /// How long an agent that said that it is done may still take to exit; then it is made to.
    fn exit_grace_left(&mut self, now: Duration) -> Option<Duration> {
        if self.was_ended {
            return Some(REAP_INTERVAL);
        }
        let left = (self.done_since? + EXIT_GRACE).saturating_sub(now);
        if left.is_zero() {
            self.end_finished();
            return Some(REAP_INTERVAL);
        }
        Some(left)
    }

    fn end_finished(&mut self) {
        if !self.was_ended {
            self.was_ended = true;
            self.start(BackgroundWork::EndFinished);
        }
    }

    fn stop_at(&mut self, overrun: Overrun) {
        let text = overrun.to_string();
        self.stop(match overrun {
            Overrun::Time(_) => StopCause::TimeLimit(text),
            Overrun::Idle(_) => StopCause::Idle(text),
            Overrun::Tokens(_) => StopCause::Tokens(text),
            Overrun::Money(_) => StopCause::Money(match &self.price_guess {
                Some(guess) => format!("{text}; {}", guess.text),
                None => text,
            }),
        });
    }

    fn stop(&mut self, why: StopCause) {
        self.stopped = Some(why);
        self.start(BackgroundWork::Stop);
    }

    fn poll_commits(&mut self, now: Duration) -> Duration {
        if self.is_under_way(BackgroundWork::Publish) {
            return Duration::MAX;
        }
        if now >= self.commits_at {
            self.commits_at = now + COMMIT_POLL_INTERVAL;
            if self.publish_backoff.is_due(now) {
                self.start(BackgroundWork::Publish);
            }
        }
        self.commits_at
    }

    fn poll_record(&mut self, now: Duration) -> Duration {
        if self.is_under_way(BackgroundWork::ReadRecord) {
            return Duration::MAX;
        }
        if now >= self.record_at {
            self.record_at = now + RECORD_POLL_INTERVAL;
            self.start(BackgroundWork::ReadRecord);
        }
        self.record_at
    }

    /// Stores what waits, one batch at a time, so that they arrive in order.
    fn flush(&mut self, now: Duration) -> Option<Duration> {
        if self.backlog == Backlog::Empty {
            return None;
        }
        let soonest = self.flushed_at.map_or(Duration::ZERO, |last| last + FLUSH_INTERVAL);
        let flush_at = *self.flush_at.get_or_insert((now + FLUSH_DELAY).max(soonest));
        if self.is_under_way(BackgroundWork::Store) {
            return None;
        }
        if now < flush_at && self.backlog != Backlog::Full {
            return Some(flush_at);
        }
        self.flushed_at = Some(now);
        self.store();
        None
    }

    pub(super) fn store(&mut self) {
        (self.backlog, self.flush_at) = (Backlog::Empty, None);
        self.start(BackgroundWork::Store);
    }
}
