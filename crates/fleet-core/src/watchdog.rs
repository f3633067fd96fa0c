//! When the keeper of a run has to do something by itself: pure, by a clock that the caller hands in.
//!
//! The clock is how long the machine was awake, not the time of day: a laptop that slept for a night must not find
//! its agents idle in the morning.

use std::fmt;
use std::time::Duration;

use crate::time::Span;

/// The limits of a run, and how often its work is saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WatchdogLimits {
    pub time: Option<Duration>,
    /// Without a byte of output and without any other sign of work.
    pub idle: Option<Duration>,
    /// Input and output together.
    pub tokens: Option<u64>,
    /// In millionths of a US dollar.
    pub micro_usd: Option<u64>,
    /// Between two snapshots.
    pub snapshot_every: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overrun {
    Time(Duration),
    Idle(Duration),
    Tokens(u64),
    Money(u64),
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "stopped after {}, its time limit", Span(*limit)),
            Self::Idle(limit) => write!(f, "stopped after {} without activity", Span(*limit)),
            Self::Tokens(limit) => write!(f, "stopped: over its limit of {limit} tokens"),
            Self::Money(limit) => {
                write!(
                    f,
                    "stopped: over its limit of {}.{:02} USD",
                    limit / 1_000_000,
                    limit % 1_000_000 / 10_000
                )
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum WatchdogAction {
    Stop(Overrun),
    Snapshot,
    /// It says nothing: probe whether it works all the same, and tell [`Watchdog::probed`].
    Probe,
    /// Nothing for this long, unless something happens.
    Sleep(Duration),
}

/// Signs of work in the processes of an agent that says nothing: a long test run is not a hang.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Processor time of all of them since the beginning.
    pub cpu: Duration,
    pub processes: usize,
    /// What they have read and written, where the system tells.
    pub io_bytes: u64,
    /// In how many calls.
    pub io_calls: u64,
    /// The newest change of a file in the workspace, in milliseconds since 1970.
    pub changed_at: Option<u64>,
}

/// A call that reads or writes less is a wake-up between threads, a timer or a notice from a watched file. Codex makes
/// many of them while it waits for an answer that never comes.
const SMALL_CALL: u64 = 64;

/// What goes beyond small calls without being work: so much at once, and so much more each second.
const NOISE: (u64, u64) = (4 * 1024, 256);

impl Activity {
    /// Whether there was work between this probe and a later one. A program that only waits uses a little of everything
    /// for its timers.
    fn is_followed_by_work(self, later: Self, between: Duration) -> bool {
        // Less than before is a sign as well: a process ended and took its numbers along.
        let cpu = later.cpu.abs_diff(self.cpu);
        let calls = later.io_calls.abs_diff(self.io_calls);
        let bytes = later.io_bytes.abs_diff(self.io_bytes).saturating_sub(calls.saturating_mul(SMALL_CALL));
        let (at_once, each_second) = NOISE;
        cpu > between / 50
            || later.processes != self.processes
            || bytes > at_once.saturating_add(each_second.saturating_mul(between.as_secs()))
            || later.changed_at != self.changed_at
    }
}

/// Longest sleep, when nothing is due.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);

#[derive(Debug, Clone)]
pub struct Watchdog {
    bounds: WatchdogLimits,
    started: Duration,
    last_output: Duration,
    last_sign: Duration,
    probed: Option<(Duration, Activity)>,
    /// Whether all that it printed of late is that it tries again.
    is_trying: bool,
    last_snapshot: Duration,
    /// Since when it waits for the answer of a person, and does nothing else.
    asks_since: Option<Duration>,
    tokens: u64,
    micro_usd: u64,
}

impl Watchdog {
    pub const fn new(bounds: WatchdogLimits, now: Duration) -> Self {
        Self {
            bounds,
            started: now,
            last_output: now,
            last_sign: now,
            probed: None,
            is_trying: false,
            last_snapshot: now,
            asks_since: None,
            tokens: 0,
            micro_usd: 0,
        }
    }

    /// It waits for the answer of a person: until it has it, or does something else, its time does not count.
    pub const fn asks(&mut self, now: Duration) {
        if self.asks_since.is_none() {
            self.asks_since = Some(now);
        }
    }

    /// It does not wait for a person any more. How long it did is no time of its own.
    pub fn is_answered(&mut self, now: Duration) {
        let Some(since) = self.asks_since.take() else { return };
        let waited = now.saturating_sub(since);
        self.started += waited;
        self.last_output += waited;
        self.last_sign += waited;
        self.probed = None;
    }

    pub fn saw_output(&mut self, now: Duration) {
        // An agent that goes on while a question of it is open uses its time.
        self.is_answered(now);
        self.last_output = now;
        self.last_sign = now;
        self.probed = None;
        self.is_trying = false;
    }

    /// The agent printed only that it tries again what its provider refuses. That does not count as work, and neither
    /// does what it reads and writes for it.
    pub const fn tried(&mut self) {
        self.is_trying = true;
    }

    pub fn probed(&mut self, activity: Activity, now: Duration) {
        if !self.is_trying
            && let Some((at, before)) = self.probed
            && before.is_followed_by_work(activity, now.saturating_sub(at))
        {
            self.last_sign = now;
        }
        self.probed = Some((now, activity));
    }

    pub const fn used(&mut self, tokens: u64, micro_usd: u64) {
        (self.tokens, self.micro_usd) = (tokens, micro_usd);
    }

    /// It may use this much from now on.
    pub const fn allow(&mut self, tokens: Option<u64>, micro_usd: Option<u64>) {
        (self.bounds.tokens, self.bounds.micro_usd) = (tokens, micro_usd);
    }

    /// What is used up to this percentage, in a sentence; money first.
    pub fn nearly(&self, percent: u8) -> Option<String> {
        let is_near = |used: u64, limit: u64| {
            u128::from(used) * 100 >= u128::from(limit) * u128::from(percent) && used <= limit
        };
        let WatchdogLimits { tokens, micro_usd, .. } = self.bounds;
        let dollars = |micro: u64| format!("{}.{:02} USD", micro / 1_000_000, micro % 1_000_000 / 10_000);
        let money = micro_usd.filter(|limit| is_near(self.micro_usd, *limit));
        let money =
            money.map(|limit| format!("it has used {} of {}", dollars(self.micro_usd), dollars(limit)));
        let tokens = tokens.filter(|limit| is_near(self.tokens, *limit));
        money.or_else(|| tokens.map(|limit| format!("it has used {} of {limit} tokens", self.tokens)))
    }

    /// The work was saved, or could not be: the next try is a whole pause away.
    pub const fn snapshotted(&mut self, now: Duration) {
        self.last_snapshot = now;
    }

    /// What is due. The strictest bound comes first: money that is spent is gone.
    pub fn next(&self, now: Duration) -> WatchdogAction {
        let WatchdogLimits { time, idle, tokens, micro_usd, snapshot_every } = self.bounds;
        if let Some(limit) = micro_usd.filter(|limit| self.micro_usd > *limit) {
            return WatchdogAction::Stop(Overrun::Money(limit));
        }
        if let Some(limit) = tokens.filter(|limit| self.tokens > *limit) {
            return WatchdogAction::Stop(Overrun::Tokens(limit));
        }
        let left = |since: Duration, limit: Duration| (since + limit).saturating_sub(now);
        let (time, idle) = if self.asks_since.is_some() { (None, None) } else { (time, idle) };
        let time_left = time.map(|limit| left(self.started, limit));
        if let (Some(limit), Some(Duration::ZERO)) = (time, time_left) {
            return WatchdogAction::Stop(Overrun::Time(limit));
        }
        let idle_left = idle.map(|limit| left(self.last_sign, limit));
        let last_probe = self.probed.map_or(self.last_output, |(at, _)| at);
        let probe_left = idle.map(|limit| left(last_probe, limit / 4));
        if probe_left == Some(Duration::ZERO) {
            return WatchdogAction::Probe;
        }
        if let (Some(limit), Some(Duration::ZERO)) = (idle, idle_left) {
            return WatchdogAction::Stop(Overrun::Idle(limit));
        }
        let snapshot_left = snapshot_every.map(|pause| left(self.last_snapshot, pause));
        if snapshot_left == Some(Duration::ZERO) {
            return WatchdogAction::Snapshot;
        }
        let soonest = [time_left, idle_left, probe_left, snapshot_left].into_iter().flatten().min();
        WatchdogAction::Sleep(soonest.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A person who answers after a day has not used the time of the agent.
    #[test]
    fn time_that_waits_for_a_person_does_not_count() {
        let mut watchdog = Watchdog::new(bounds(), s(0));
        watchdog.saw_output(s(10));
        watchdog.snapshotted(s(10));
        watchdog.asks(s(15));
        watchdog.asks(s(16));
        assert_eq!(watchdog.next(s(100_000)), WatchdogAction::Snapshot, "its work is saved all the same");
        watchdog.snapshotted(s(100_000));
        assert_eq!(watchdog.next(s(100_001)), WatchdogAction::Sleep(s(19)));
        watchdog.is_answered(s(100_015));
        assert_eq!(
            watchdog.next(s(100_016)),
            WatchdogAction::Sleep(Duration::from_millis(1_500)),
            "as if it were second 16"
        );
        assert_eq!(watchdog.next(s(100_101)), WatchdogAction::Stop(Overrun::Time(s(100))));
    }

    #[test]
    fn an_agent_that_goes_on_while_it_asks_uses_its_time() {
        let mut watchdog = Watchdog::new(bounds(), s(0));
        watchdog.asks(s(0));
        watchdog.saw_output(s(50));
        watchdog.snapshotted(s(150));
        assert_eq!(watchdog.next(s(150)), WatchdogAction::Stop(Overrun::Time(s(100))));
    }

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn bounds() -> WatchdogLimits {
        WatchdogLimits {
            time: Some(s(100)),
            idle: Some(s(30)),
            tokens: Some(1_000),
            micro_usd: Some(2_500_000),
            snapshot_every: Some(s(20)),
        }
    }

    #[test]
    fn sleeps_until_the_first_thing_is_due() {
        let mut dog = Watchdog::new(bounds(), s(5));
        assert_eq!(dog.next(s(5)), WatchdogAction::Sleep(Duration::from_millis(7_500)));
        dog.saw_output(s(20));
        assert_eq!(dog.next(s(25)), WatchdogAction::Snapshot);
        dog.snapshotted(s(25));
        assert_eq!(dog.next(s(25)), WatchdogAction::Sleep(Duration::from_millis(2_500)));
        dog.saw_output(s(40));
        assert_eq!(dog.next(s(40)), WatchdogAction::Sleep(s(5)));
        assert_eq!(
            Watchdog::new(WatchdogLimits::default(), s(0)).next(s(9)),
            WatchdogAction::Sleep(LONGEST_SLEEP)
        );
    }

    #[test]
    fn stops_at_each_bound_and_says_which() {
        let said = |dog: &Watchdog, now| match dog.next(now) {
            WatchdogAction::Stop(overrun) => overrun.to_string(),
            other => panic!("{other:?}"),
        };
        let mut dog = Watchdog::new(bounds(), s(0));
        assert_eq!(dog.next(s(30)), WatchdogAction::Probe, "never without a probe");
        dog.probed(Activity::default(), s(30));
        assert_eq!(said(&dog, s(30)), "stopped after 30s without activity");
        dog.saw_output(s(99));
        assert_eq!(said(&dog, s(100)), "stopped after 1m40s, its time limit");
        dog.used(1_000, 2_500_000);
        assert_eq!(dog.next(s(99)), WatchdogAction::Snapshot, "what is allowed may be used up");
        dog.used(1_001, 0);
        assert_eq!(said(&dog, s(99)), "stopped: over its limit of 1000 tokens");
        dog.used(1_001, 2_500_001);
        assert_eq!(said(&dog, s(99)), "stopped: over its limit of 2.50 USD");
    }

    #[test]
    fn warns_before_a_bound_is_reached_and_takes_more() {
        let mut dog = Watchdog::new(bounds(), s(0));
        assert_eq!(dog.nearly(80), None);
        dog.used(799, 1_999_999);
        assert_eq!(dog.nearly(80), None);
        dog.used(800, 0);
        assert_eq!(dog.nearly(80).as_deref(), Some("it has used 800 of 1000 tokens"));
        dog.used(800, 2_000_000);
        assert_eq!(dog.nearly(80).as_deref(), Some("it has used 2.00 USD of 2.50 USD"));
        dog.allow(None, Some(5_000_000));
        assert_eq!(dog.nearly(80), None);
        dog.used(9_999, 5_000_001);
        assert_eq!(dog.nearly(80), None, "then it is stopped");
        assert!(matches!(dog.next(s(0)), WatchdogAction::Stop(Overrun::Money(5_000_000))));
    }

    #[test]
    fn an_agent_that_is_silent_but_works_is_left_alone() {
        let activity = |cpu_ms, processes, io_bytes| Activity {
            cpu: Duration::from_millis(cpu_ms),
            processes,
            io_bytes,
            ..Activity::default()
        };
        let after = |probes: &[Activity]| {
            let idle = WatchdogLimits { idle: Some(s(40)), ..WatchdogLimits::default() };
            let mut dog = Watchdog::new(idle, s(0));
            for (at, activity) in (1..).zip(probes) {
                assert_eq!(dog.next(s(at * 10)), WatchdogAction::Probe);
                dog.probed(*activity, s(at * 10));
            }
            dog.next(s(40))
        };
        let waits =
            [activity(900, 3, 0), activity(950, 3, 100), activity(1_000, 3, 900), activity(1_100, 3, 2_000)];
        assert_eq!(after(&waits), WatchdogAction::Stop(Overrun::Idle(s(40))), "timers are no work");
        let changed = Activity { changed_at: Some(1), ..waits[1] };
        for (works, why) in [
            ([waits[0], waits[1], activity(9_000, 3, 0), activity(9_000, 3, 0)], "a processor was busy"),
            ([waits[0], waits[1], activity(100, 3, 0), activity(100, 3, 0)], "somebody busy ended"),
            ([waits[0], waits[1], activity(950, 4, 0), activity(950, 4, 0)], "a child was started"),
            ([waits[0], waits[1], activity(950, 3, 9_000), activity(950, 3, 9_000)], "something was written"),
            ([waits[0], waits[1], changed, changed], "a file in the workspace changed"),
        ] {
            assert!(matches!(after(&works), WatchdogAction::Sleep(_)), "{why}");
        }
    }

    /// Measured: a codex whose provider does not answer, each ten seconds.
    #[test]
    fn small_reads_of_a_watcher_are_no_work() {
        let idle = |minutes| WatchdogLimits { idle: Some(s(60 * minutes)), ..WatchdogLimits::default() };
        let measured = [
            (1_673_579 + 3_522_082, 1_543 + 2_187, 180),
            (1_679_755 + 3_523_514, 1_899 + 2_366, 190),
            (1_711_339 + 3_530_458, 3_634 + 3_234, 240),
            (1_744_491 + 3_538_050, 5_499 + 4_183, 300),
            (1_785_519 + 3_546_490, 7_545 + 5_238, 360),
        ];
        for minutes in [1, 20, 60] {
            let mut dog = Watchdog::new(idle(minutes), s(0));
            for (at, (io_bytes, io_calls, cpu_ms)) in (1..).zip(measured) {
                let cpu = Duration::from_millis(cpu_ms);
                let activity = Activity { cpu, processes: 1, io_bytes, io_calls, ..Activity::default() };
                dog.probed(activity, s(at * 15 * minutes));
            }
            let end = s(60 * minutes);
            assert_eq!(dog.next(s(75 * minutes)), WatchdogAction::Stop(Overrun::Idle(end)), "{minutes}m");
        }
    }

    #[test]
    fn an_agent_that_only_tries_again_does_not_work() {
        let mut dog = Watchdog::new(WatchdogLimits { idle: Some(s(40)), ..WatchdogLimits::default() }, s(0));
        dog.tried();
        for at in [10, 20, 30, 40] {
            assert_eq!(dog.next(s(at)), WatchdogAction::Probe);
            dog.probed(Activity { io_bytes: at * 100_000, ..Activity::default() }, s(at));
        }
        assert_eq!(
            dog.next(s(40)),
            WatchdogAction::Stop(Overrun::Idle(s(40))),
            "each try sends the whole request"
        );
        dog.saw_output(s(41));
        for at in [51, 61, 71, 81] {
            dog.probed(Activity { io_bytes: at * 100_000, ..Activity::default() }, s(at));
        }
        assert!(matches!(dog.next(s(81)), WatchdogAction::Sleep(_)), "it was served after all");
    }
}
