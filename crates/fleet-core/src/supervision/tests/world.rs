//! A scripted agent, its pipes and its store, in simulated time.

use std::collections::VecDeque;

use super::table::{History, Told};
use super::*;

/// So many events wait for the store at most.
const FULL: usize = 4;
/// Somebody cancels the run by then, so that every script ends.
const LAST_ORDER: u64 = 60_000;

/// What comes from outside, in milliseconds.
#[derive(Debug, Clone)]
enum Happening {
    Says { events: usize, tokens: u64, kind: Saying },
    Order(Order),
    MessagesWait,
    Exits(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Saying {
    Works,
    Retries,
    Done,
    Hopeless,
}

#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) settings: SupervisionSettings,
    happenings: Vec<(u64, Happening)>,
    /// How long works take, one after the other, in milliseconds.
    delays: Vec<u64>,
    /// When the store is out of reach.
    outage: std::ops::Range<u64>,
    /// What requests for more of the budget get.
    grants: Vec<Option<u64>>,
    /// Whether probes find work.
    is_busy: Vec<bool>,
    /// Somebody who got away holds the pipes open.
    is_leaking: bool,
}

impl Script {
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let saying = prop_oneof![
            6 => Just(Saying::Works),
            2 => Just(Saying::Retries),
            2 => Just(Saying::Done),
            1 => Just(Saying::Hopeless),
        ];
        let kinds = [StopKind::Release, StopKind::Switch, StopKind::Cancel];
        let orders = proptest::sample::select([kinds.map(order).as_slice(), &[Order::Lost]].concat());
        let happening = prop_oneof![
            8 => (0_usize..4, 0_u64..40, saying)
                .prop_map(|(events, tokens, kind)| Happening::Says { events, tokens, kind }),
            1 => orders.prop_map(Happening::Order),
            1 => Just(Happening::MessagesWait),
            1 => (0..2).prop_map(Happening::Exits),
        ];
        let settings = (
            proptest::option::of(5_u64..60),
            proptest::option::of(4_u64..30),
            proptest::option::of(20_u64..200),
            any::<bool>(),
            proptest::bool::weighted(0.2),
            proptest::option::weighted(0.2, 50_u8..100),
        );
        let settings =
            settings.prop_map(|(time, idle, tokens, has_reservation, has_record, context_pressure)| {
                SupervisionSettings {
                    bounds: watchdog::WatchdogLimits {
                        time: time.map(s),
                        idle: idle.map(s),
                        tokens,
                        micro_usd: None,
                        snapshot_every: Some(s(30)),
                    },
                    limits: budget::Bounds { tokens: Some(150), micro_usd: None },
                    has_reservation,
                    warn_percent: 80,
                    has_record,
                    context_pressure,
                }
            });
        let happenings = proptest::collection::vec((0_u64..50_000, happening), 0..24);
        let delays = proptest::collection::vec(prop_oneof![0_u64..50, 0_u64..8_000], 1..8);
        let outage = (0_u64..50_000, 0_u64..30_000).prop_map(|(from, length)| from..from + length);
        let grants = proptest::collection::vec(proptest::option::of(20_u64..200), 1..4);
        let is_busy = proptest::collection::vec(any::<bool>(), 1..4);
        (settings, happenings, delays, outage, grants, is_busy, any::<bool>()).prop_map(
            |(settings, mut happenings, delays, outage, grants, is_busy, is_leaking)| {
                happenings.push((LAST_ORDER, Happening::Order(order(StopKind::Cancel))));
                happenings.sort_by_key(|(at, _)| *at);
                Self { settings, happenings, delays, outage, grants, is_busy, is_leaking }
            },
        )
    }
}

#[derive(Debug, Clone, Copy)]
enum Piece {
    Said { events: usize, tokens: u64, kind: Saying },
    Closed,
}

/// Something that will happen.
#[derive(Debug, Clone)]
enum Next {
    Outside(Happening),
    Ended(BackgroundWork),
    Piece(Piece),
    Killed,
}

pub(super) struct World {
    script: Script,
    supervision: Supervision,
    now: Duration,
    agenda: Vec<(Duration, Next)>,
    pipe: VecDeque<Piece>,
    turn: usize,
    order: Option<Order>,
    is_alive: bool,
    /// The supervision was told that the agent is gone.
    is_reaped: bool,
    waiting_events: usize,
    tokens: u64,
    is_done: bool,
    activity: Activity,
    under_way: BTreeSet<BackgroundWork>,
    started: Vec<BackgroundWork>,
    history: History,
    verdicts: Vec<SupervisionEnd>,
}

impl World {
    pub(super) fn new(script: Script) -> Self {
        let happenings = script.happenings.iter().cloned();
        Self {
            supervision: Supervision::new(script.settings, Duration::ZERO),
            now: Duration::ZERO,
            agenda: happenings.map(|(at, what)| (Duration::from_millis(at), Next::Outside(what))).collect(),
            script,
            pipe: VecDeque::new(),
            turn: 0,
            order: None,
            is_alive: true,
            is_reaped: false,
            waiting_events: 0,
            tokens: 0,
            is_done: false,
            activity: Activity::default(),
            under_way: BTreeSet::new(),
            started: Vec::new(),
            history: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// Until the end, and on until nothing happens any more.
    pub(super) fn run(mut self) -> (History, SupervisionEnd) {
        self.feed(Input::Status(AgentStatus::default()));
        for _ in 0..20_000 {
            if self.verdicts.is_empty() {
                self.step();
            } else if let Some((at, next)) = self.take_next() {
                self.now = self.now.max(at);
                self.happens(next);
            } else {
                return self.end();
            }
        }
        panic!("it does not end: {:#?}", self.history)
    }

    fn end(mut self) -> (History, SupervisionEnd) {
        assert_eq!(self.verdicts.len(), 1, "one end");
        let count = |work| self.started.iter().filter(|started| **started == work).count();
        assert_eq!((count(BackgroundWork::EndRemaining), count(BackgroundWork::Stop).max(1)), (1, 1));
        assert!(self.script.is_leaking || self.pipe.is_empty(), "all output is taken: {:?}", self.pipe);
        (self.history, self.verdicts.remove(0))
    }

    /// An exit that is known and new orders come first, as in a keeper; then what is due; then anything else.
    fn step(&mut self) {
        if let Some(index) = self.agenda.iter().position(|(at, next)| *at <= self.now && next.is_urgent()) {
            let (_, next) = self.agenda.remove(index);
            return self.happens(next);
        }
        if self.supervision.wake_at() <= self.now {
            self.feed(Input::Wake);
            assert!(self.supervision.wake_at() > self.now, "it would not sleep");
            return;
        }
        if self.supervision.takes_output()
            && let Some(piece) = self.pipe.pop_front()
        {
            return self.read(piece);
        }
        let next = self.agenda.iter().map(|(at, _)| *at).min();
        match next.filter(|at| *at < self.supervision.wake_at()) {
            Some(_) => {
                if let Some((at, next)) = self.take_next() {
                    self.now = self.now.max(at);
                    self.happens(next);
                }
            }
            None => self.now = self.supervision.wake_at(),
        }
    }

    fn take_next(&mut self) -> Option<(Duration, Next)> {
        let first = (0..self.agenda.len()).min_by_key(|index| self.agenda[*index].0)?;
        Some(self.agenda.remove(first))
    }

    fn happens(&mut self, next: Next) {
        match next {
            Next::Outside(Happening::Says { events, tokens, kind }) if self.is_alive => {
                self.pipe.push_back(Piece::Said { events, tokens, kind });
            }
            Next::Outside(Happening::Order(order)) if order.supersedes(self.order.as_ref()) => {
                self.order = Some(order.clone());
                self.feed(Input::Order(order));
            }
            Next::Outside(Happening::MessagesWait) => self.feed(Input::MessagesWait),
            Next::Outside(Happening::Exits(code)) => self.dies(AgentExit::Code(code)),
            Next::Outside(_) => {}
            Next::Killed => self.dies(AgentExit::Signal(15)),
            Next::Piece(piece) => self.pipe.push_back(piece),
            Next::Ended(work) => self.ended(work),
        }
    }

    fn dies(&mut self, exit: AgentExit) {
        if !std::mem::take(&mut self.is_alive) {
            return;
        }
        self.is_reaped = true;
        if !self.script.is_leaking {
            for _ in 0..2 {
                let at = self.now + self.delay().min(s(4));
                self.agenda.push((at, Next::Piece(Piece::Closed)));
            }
        }
        self.feed(Input::Exited(exit));
    }

    fn read(&mut self, piece: Piece) {
        let Piece::Said { events, tokens, kind } = piece else { return self.feed(Input::PipeClosed) };
        self.waiting_events += events;
        self.tokens += tokens;
        self.is_done = kind == Saying::Done;
        let hopeless = (kind == Saying::Hopeless).then(|| (Reason::Auth, "refused".to_owned()));
        let status = AgentStatus { hopeless, ..self.status() };
        self.feed(Input::Output { shows_work: kind != Saying::Retries, status });
    }

    fn status(&self) -> AgentStatus {
        AgentStatus {
            used: Used { tokens: self.tokens, micro_usd: 0 },
            context: Some(ContextUse { tokens: self.tokens, limit: 250 }),
            is_done: self.is_done,
            backlog: match self.waiting_events {
                0 => Backlog::Empty,
                FULL.. => Backlog::Full,
                _ => Backlog::Waiting,
            },
            ..AgentStatus::default()
        }
    }

    fn ended(&mut self, work: BackgroundWork) {
        assert!(self.under_way.remove(&work), "{work:?} was begun");
        let input = match work {
            BackgroundWork::Probe => {
                if self.script.is_busy[self.turn % self.script.is_busy.len()] {
                    self.activity.cpu += s(1_000);
                }
                Input::Probed(self.activity)
            }
            BackgroundWork::Publish => Input::Published { is_done: self.turn.is_multiple_of(2) },
            BackgroundWork::Reserve => {
                let grant = self.script.grants[self.turn % self.script.grants.len()];
                Input::Reserved(grant.map(|tokens| budget::Bounds { tokens: Some(tokens), micro_usd: None }))
            }
            BackgroundWork::ReadRecord => Input::RecordRead(self.status()),
            _ => Input::Ended(work),
        };
        self.feed(input);
    }

    fn feed(&mut self, input: Input) {
        let is_over = !self.verdicts.is_empty();
        let told = match &input {
            Input::Wake => Told::Wake { is_full: self.waiting_events >= FULL },
            input => Told::Input(input.clone()),
        };
        if !matches!(told, Told::Input(Input::Published { .. } | Input::RecordRead(_) | Input::Ended(_))) {
            self.history.push((self.now, told));
        }
        let effects = self.supervision.on(input, self.now);
        assert!(!is_over || effects.is_empty(), "nothing follows the end: {effects:?}");
        for effect in effects {
            match effect {
                Effect::Start(work) => self.begin(work),
                Effect::End(verdict) => self.verdicts.push(verdict),
                Effect::Warn(_) => self.waiting_events = self.waiting_events.max(1),
                Effect::CloseInput => {}
            }
        }
    }

    fn begin(&mut self, work: BackgroundWork) {
        assert!(self.under_way.insert(work), "{work:?} twice at once");
        self.started.push(work);
        let mut at = self.now + self.delay();
        match work {
            BackgroundWork::Store => {
                self.waiting_events = 0;
                let end = Duration::from_millis(self.script.outage.end);
                let start = Duration::from_millis(self.script.outage.start);
                at = if (start..end).contains(&self.now) { at.max(end) } else { at };
            }
            BackgroundWork::Reserve => self.history.push((self.now, Told::Asked)),
            BackgroundWork::Stop | BackgroundWork::EndFinished => {
                let killed_at = self.now + self.delay();
                self.agenda.push((killed_at, Next::Killed));
            }
            BackgroundWork::EndRemaining => {
                assert!(self.is_reaped && !self.is_stopping(), "only after all else");
            }
            BackgroundWork::Deliver => {
                assert!(!self.is_reaped && !self.started.contains(&BackgroundWork::Stop));
            }
            _ => {}
        }
        self.agenda.push((at, Next::Ended(work)));
    }

    fn is_stopping(&self) -> bool {
        self.under_way.contains(&BackgroundWork::Stop)
            || self.under_way.contains(&BackgroundWork::EndFinished)
    }

    fn delay(&mut self) -> Duration {
        self.turn += 1;
        Duration::from_millis(self.script.delays[self.turn % self.script.delays.len()])
    }
}

impl Next {
    fn is_urgent(&self) -> bool {
        matches!(self, Self::Killed | Self::Outside(Happening::Exits(_) | Happening::Order(_)))
    }
}
