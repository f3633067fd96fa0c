mod table;
mod world;

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::budget::{self, Used};
use crate::run::StopKind;
use crate::watchdog::{self, Activity};
use table::predicted;
use world::{Script, World};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn order(kind: StopKind) -> Order {
    Order::Stop(crate::run::StopRequest { kind, why: format!("{kind:?}") })
}

fn said(status: AgentStatus) -> Input {
    Input::Output { shows_work: true, status }
}

fn tokens(tokens: u64) -> AgentStatus {
    AgentStatus { used: Used { tokens, micro_usd: tokens }, ..AgentStatus::default() }
}

/// Feeds inputs, each followed by a look at what is due, and returns all effects but polls.
fn effects(supervision: &mut Supervision, inputs: Vec<(u64, Input)>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (at, input) in inputs {
        effects.extend(supervision.on(input, s(at)));
        effects.extend(supervision.on(Input::Wake, s(at)));
    }
    effects.retain(|effect| {
        !matches!(effect, Effect::Start(BackgroundWork::Publish | BackgroundWork::ReadRecord))
    });
    effects
}

fn bounded(tokens: Option<u64>, micro_usd: Option<u64>) -> SupervisionSettings {
    let bounds = watchdog::WatchdogLimits { tokens, micro_usd, ..watchdog::WatchdogLimits::default() };
    SupervisionSettings { bounds, warn_percent: 80, ..SupervisionSettings::default() }
}

#[test]
fn an_agent_that_exits_by_itself_is_followed_to_its_last_byte() {
    let mut supervision = Supervision::new(SupervisionSettings::default(), s(0));
    let exit = AgentExit::Code(3);
    let inputs = vec![
        (1, Input::Exited(exit.clone())),
        (2, Input::Ended(BackgroundWork::EndRemaining)),
        (3, Input::PipeClosed),
        (4, said(AgentStatus::default())),
        (5, Input::PipeClosed),
        (6, Input::PipeClosed),
    ];
    let end = Effect::End(SupervisionEnd { exit, stopped: None });
    assert_eq!(effects(&mut supervision, inputs), [Effect::Start(BackgroundWork::EndRemaining), end]);
}

#[test]
fn a_pipe_that_somebody_holds_open_is_left_after_a_while() {
    let mut supervision = Supervision::new(SupervisionSettings::default(), s(0));
    let inputs =
        vec![(1, Input::Exited(AgentExit::Code(0))), (2, Input::Ended(BackgroundWork::EndRemaining))];
    assert_eq!(effects(&mut supervision, inputs), [Effect::Start(BackgroundWork::EndRemaining)]);
    assert_eq!(supervision.wake_at(), s(2) + DRAIN_TIMEOUT);
    assert!(matches!(supervision.on(Input::Wake, s(7))[..], [Effect::End(_)]));
}

/// Its run ends at once, and well: the slot is for others until the answer comes.
#[test]
fn an_agent_that_parks_its_question_is_ended() {
    let mut supervision = Supervision::new(SupervisionSettings::default(), s(0));
    let parks = Input::Asking(Asking { waiting: 0, parks: true });
    let ended = effects(&mut supervision, vec![(1, parks), (2, Input::Exited(AgentExit::Signal(15)))]);
    assert_eq!(ended, [Effect::Start(BackgroundWork::EndFinished)]);
    let inputs = vec![
        (3, Input::Ended(BackgroundWork::EndFinished)),
        (4, Input::Ended(BackgroundWork::EndRemaining)),
        (5, Input::PipeClosed),
        (6, Input::PipeClosed),
    ];
    let end = Effect::End(SupervisionEnd { exit: AgentExit::Code(0), stopped: None });
    assert_eq!(effects(&mut supervision, inputs), [Effect::Start(BackgroundWork::EndRemaining), end]);
}

#[test]
fn an_agent_that_waits_for_a_person_is_not_idle() {
    let bounds = watchdog::WatchdogLimits { idle: Some(s(40)), ..watchdog::WatchdogLimits::default() };
    let settings = SupervisionSettings { bounds, ..SupervisionSettings::default() };
    let mut supervision = Supervision::new(settings, s(0));
    let asks = |waiting| Input::Asking(Asking { waiting, parks: false });
    assert_eq!(effects(&mut supervision, vec![(1, asks(1)), (100_000, Input::Wake)]), []);
    let answered = vec![(100_001, asks(0)), (100_012, Input::Wake)];
    assert_eq!(
        effects(&mut supervision, answered),
        [Effect::Start(BackgroundWork::Probe)],
        "now it may hang"
    );
}

#[test]
fn money_over_its_bound_names_the_price_that_was_guessed() {
    let mut supervision = Supervision::new(bounded(None, Some(2_000_000)), s(0));
    let guess = PriceGuess { text: "a guess".to_owned(), remedy: "set it".to_owned() };
    let status = AgentStatus { price_guess: Some(guess), ..tokens(2_000_001) };
    let effects = effects(&mut supervision, vec![(1, said(status.clone())), (2, said(status))]);
    assert_eq!(effects, [Effect::Warn("a guess; set it".to_owned()), Effect::Start(BackgroundWork::Stop)]);
    let stopped = "stopped: over its limit of 2.00 USD; a guess".to_owned();
    assert_eq!(supervision.stopped, Some(StopCause::Money(stopped)));
}

#[test]
fn a_conversation_that_is_nearly_full_is_stopped_unless_it_was_compacted() {
    let settings = SupervisionSettings { context_pressure: Some(90), ..SupervisionSettings::default() };
    let at =
        |tokens| AgentStatus { context: Some(ContextUse { tokens, limit: 1_000 }), ..AgentStatus::default() };
    let stopped = |settings, statuses: &[AgentStatus]| {
        let mut supervision = Supervision::new(settings, s(0));
        effects(&mut supervision, statuses.iter().cloned().map(|status| (1, said(status))).collect());
        supervision.stopped
    };
    assert_eq!(stopped(settings, &[at(899), at(20), at(899)]), None);
    let text = "its conversation has filled its model's context (900 of 1000 tokens, 90 %)";
    assert_eq!(stopped(settings, &[at(899), at(900)]), Some(StopCause::Context(text.to_owned())));
    assert_eq!(stopped(SupervisionSettings::default(), &[at(2_000)]), None, "a person decides");
    let done = AgentStatus { is_done: true, ..at(950) };
    assert_eq!(stopped(settings, &[done]), None, "its work is done");
}

#[test]
fn a_bound_without_a_reservation_warns_once() {
    let mut supervision = Supervision::new(bounded(Some(100), None), s(0));
    let effects =
        effects(&mut supervision, [10, 80, 90].map(|used| (1, said(tokens(used)))).into_iter().collect());
    assert_eq!(effects, [Effect::Warn("it has used 80 of 100 tokens".to_owned())]);
}

#[test]
fn an_agent_that_told_nothing_of_what_it_used_had_no_limit() {
    let unmetered = |settings, stopped, used| {
        let verdict = SupervisionEnd { exit: AgentExit::Code(0), stopped };
        Supervision::new(settings, s(0)).unmetered(&verdict, used).is_some()
    };
    let limit = bounded(Some(1), None);
    assert!(unmetered(limit, None, Used::default()));
    assert!(!unmetered(limit, None, tokens(1).used));
    assert!(!unmetered(limit, Some(StopCause::Idle(String::new())), Used::default()));
    assert!(!unmetered(bounded(None, None), None, Used::default()));
}

#[test]
fn what_an_agent_says_is_stored_soon_then_once_a_second_and_at_once_when_much_waits() {
    let mut supervision = Supervision::new(SupervisionSettings::default(), s(0));
    let mut stores = |at, input| {
        let at = Duration::from_millis(at);
        let effects = [supervision.on(input, at), supervision.on(Input::Wake, at)].concat();
        effects.contains(&Effect::Start(BackgroundWork::Store))
    };
    let waiting = |backlog| said(AgentStatus { backlog, ..AgentStatus::default() });
    assert!(!stores(0, waiting(Backlog::Waiting)), "more may follow");
    assert!(stores(200, Input::Wake));
    assert!(!stores(210, Input::Ended(BackgroundWork::Store)));
    assert!(!stores(220, waiting(Backlog::Waiting)));
    assert!(!stores(1_199, Input::Wake), "a second has not passed");
    assert!(stores(1_200, Input::Wake));
    assert!(!stores(1_210, Input::Ended(BackgroundWork::Store)));
    assert!(stores(1_220, waiting(Backlog::Full)), "the agent would wait");
}

#[test]
fn cancellations_beat_releases_and_nothing_beats_the_loss() {
    let all = [order(StopKind::Release), order(StopKind::Switch), order(StopKind::Cancel), Order::Lost];
    for (earlier, one) in all.iter().enumerate() {
        assert!(one.supersedes(None));
        for (later, other) in all.iter().enumerate() {
            assert_eq!(other.supersedes(Some(one)), later > earlier, "{other:?} after {one:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, ..ProptestConfig::default() })]

    /// Whatever comes in whatever order: it ends, once, as the table says.
    #[test]
    fn every_order_of_events_ends_once_with_the_verdict_of_the_table(script in Script::any()) {
        let settings = script.settings;
        let (history, verdict) = World::new(script).run();
        prop_assert_eq!(verdict, predicted(&settings, &history), "{:#?}", history);
    }
}
