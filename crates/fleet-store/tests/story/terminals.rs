//! Agents in terminals: how their tasks are claimed, and what is known of them while they run.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::event::{AgentEvent, Fact};
use fleet_core::id::TaskId;
use fleet_core::run::{AgentState, AgentStateNow, Ending, Run, RunMove, StopKind, StopRequest};
use fleet_core::schedule::Caps;
use fleet_core::scope::FileScope;
use fleet_core::task::{AgentName, TaskEdit, TaskMode, TaskState};
use fleet_core::time::Millis;
use fleet_store::ops::{
    AdvanceRun, AppendRunEvents, Claim, ClaimOnly, Claimed, EditTask, FirstReady, NewTask, PauseAccount,
    RequestStop, SwitchMode, SwitchedMode,
};

use crate::harness::{Rig, START};

story! {
    a_claimer_gets_what_it_has_room_for
    constraints_hold_for_terminals_too
    a_task_that_becomes_interactive_changes_its_place_in_the_queue
    a_scheduled_one_is_found_when_it_is_due
    a_run_knows_what_its_agent_does
    a_state_that_lasts_keeps_its_beginning
    a_switch_queues_the_task_again_also_when_it_is_taken_back
    a_run_that_was_stopped_by_nobody_who_waits_fails_its_task
}

fn interactive(mut draft: NewTask) -> NewTask {
    draft.spec.mode = TaskMode::Interactive;
    draft
}

fn only(rig: &Rig, slots: usize, only: ClaimOnly) -> Claim {
    Claim { only, ..rig.claiming(slots) }
}

/// The choice goes through the lanes: some cap that is never reached.
fn bounded(claim: Claim) -> Claim {
    Claim { caps: Caps { total: Some(1_000), ..Caps::default() }, ..claim }
}

fn ids(claimed: &[Claimed]) -> Vec<TaskId> {
    claimed.iter().map(|claimed| claimed.task.id).collect()
}

async fn first(rig: &Rig, only: ClaimOnly) -> Option<TaskId> {
    rig.ok(FirstReady { only, now: rig.now() }).await
}

async fn a_claimer_gets_what_it_has_room_for(rig: &Rig) {
    for lanes in [false, true] {
        let claim = |slots, which| {
            let claim = only(rig, slots, which);
            if lanes { bounded(claim) } else { claim }
        };
        let drafts = rig.drafts(6).await.into_iter().enumerate();
        let tasks = rig
            .add(drafts.map(|(n, draft)| if n % 2 == 0 { draft } else { interactive(draft) }).collect())
            .await;
        assert_eq!(first(rig, ClaimOnly::Any).await, Some(tasks[0]));
        assert_eq!(first(rig, ClaimOnly::Headless).await, Some(tasks[0]));
        assert_eq!(first(rig, ClaimOnly::Interactive).await, Some(tasks[1]));
        let mut claimed = rig.ok(claim(1, ClaimOnly::Interactive)).await;
        assert_eq!(ids(&claimed), tasks[1..2], "whatever is before it");
        claimed.extend(rig.ok(claim(2, ClaimOnly::Headless)).await);
        claimed.extend(rig.ok(claim(9, ClaimOnly::Any)).await);
        assert_eq!(ids(&claimed), [1, 0, 2, 3, 4, 5].map(|n| tasks[n]));
        for one in &claimed {
            assert_eq!(one.run.mode, one.task.spec.mode);
            assert_eq!(rig.detail(&one.run).await.run, one.run);
            rig.end(&one.run, Ending::Cancelled("enough".to_owned())).await;
        }
        for which in [ClaimOnly::Any, ClaimOnly::Headless, ClaimOnly::Interactive] {
            assert_eq!(first(rig, which).await, None);
            assert!(rig.ok(claim(9, which)).await.is_empty());
        }
    }
}

async fn constraints_hold_for_terminals_too(rig: &Rig) {
    let scope = FileScope::parse(["src/**"]).unwrap();
    let scoped = |mut draft: NewTask| {
        draft.spec.scope = scope.clone();
        draft
    };
    let drafts = rig.drafts(4).await;
    let [busy, overlapping, free, other] = [0, 1, 2, 3].map(|n| drafts[n].clone());
    let [overlapping, free] = [interactive(scoped(overlapping)), interactive(free)];
    let mut other = interactive(other);
    other.spec.agent = Some("codex".parse().unwrap());
    rig.add(vec![scoped(busy)]).await;
    assert_eq!(rig.claim(1).await.len(), 1, "it runs on the same files");
    rig.add(vec![overlapping.clone(), free.clone(), other.clone()]).await;
    let caps = Caps { per_agent: BTreeMap::from([("codex".to_owned(), 0)]), ..Caps::default() };
    let capped = Claim { caps, ..only(rig, 9, ClaimOnly::Interactive) };
    assert_eq!(ids(&rig.ok(capped).await), [free.id]);
    let codex: AgentName = "codex".parse().unwrap();
    rig.ok(PauseAccount {
        account: "codex".to_owned(),
        agent: Some(codex),
        until: rig.now().plus(Duration::from_mins(1)),
        why: "limit".to_owned(),
        now: rig.now(),
    })
    .await;
    assert!(rig.ok(only(rig, 9, ClaimOnly::Interactive)).await.is_empty(), "one is paused, one overlaps");
    rig.pass(Duration::from_secs(61));
    assert_eq!(ids(&rig.ok(only(rig, 9, ClaimOnly::Interactive)).await), [other.id]);
}

async fn a_task_that_becomes_interactive_changes_its_place_in_the_queue(rig: &Rig) {
    let id = rig.task("one").await;
    assert!(rig.ok(only(rig, 1, ClaimOnly::Interactive)).await.is_empty());
    let edit =
        |mode| EditTask { id, edit: TaskEdit { mode: Some(mode), ..TaskEdit::default() }, now: rig.now() };
    rig.ok(edit(TaskMode::Interactive)).await;
    assert!(rig.ok(only(rig, 1, ClaimOnly::Headless)).await.is_empty());
    assert!(rig.ok(bounded(only(rig, 1, ClaimOnly::Headless))).await.is_empty());
    rig.ok(edit(TaskMode::Headless)).await;
    assert!(rig.ok(bounded(only(rig, 1, ClaimOnly::Interactive))).await.is_empty());
    rig.ok(edit(TaskMode::Interactive)).await;
    assert_eq!(ids(&rig.ok(only(rig, 1, ClaimOnly::Interactive)).await), [id]);
}

async fn a_scheduled_one_is_found_when_it_is_due(rig: &Rig) {
    let mut draft = interactive(rig.draft("later").await);
    draft.spec.not_before = Some(rig.now().plus(Duration::from_secs(10)));
    let id = rig.add_one(draft).await;
    assert_eq!(first(rig, ClaimOnly::Interactive).await, None);
    rig.pass(Duration::from_secs(10));
    assert_eq!(first(rig, ClaimOnly::Interactive).await, Some(id));
    assert_eq!(first(rig, ClaimOnly::Headless).await, None);
    assert_eq!(ids(&rig.ok(only(rig, 1, ClaimOnly::Interactive)).await), [id]);
}

fn state(state: AgentState, text: &str, evidence: &str) -> Fact {
    Fact::Agent(AgentEvent::State { state, text: text.to_owned(), evidence: evidence.to_owned() })
}

fn batch(run: &Run, batch: i64, facts: Vec<(Millis, Fact)>) -> AppendRunEvents {
    AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from: 0,
        to: 0,
        batch,
        facts,
        usage: None,
        activity: None,
        session: None,
        now: START,
        meter: None,
    }
}

async fn terminal(rig: &Rig) -> Run {
    let draft = interactive(rig.draft("talk").await);
    let id = rig.add_one(draft).await;
    let run = rig.start(id).await;
    let advance = AdvanceRun { run: run.id, attempt: 1, event: RunMove::Start, now: rig.now() };
    rig.ok(advance).await;
    run
}

async fn a_run_knows_what_its_agent_does(rig: &Rig) {
    let run = terminal(rig).await;
    let now = async || rig.detail(&run).await.run.agent_state;
    assert_eq!(now().await, None);
    let (working, asks) = (AgentState::Working, AgentState::AsksPermission);
    let facts =
        vec![(Millis(5), state(working, "", "hook")), (Millis(6), state(asks, "rm -r x?", "dialog\0"))];
    let told = batch(&run, 1, facts);
    assert!(rig.ok(told.clone()).await);
    let text = "rm -r x?".to_owned();
    let expected = AgentStateNow { state: asks, since: Millis(6), text, evidence: "dialog".to_owned() };
    assert_eq!(now().await.as_ref(), Some(&expected));
    assert!(!rig.ok(told).await, "a batch that is sent again");
    let other = Fact::Agent(AgentEvent::Text { text: "hello".to_owned() });
    rig.ok(batch(&run, 2, vec![(Millis(7), other)])).await;
    assert_eq!(now().await, Some(expected), "what says nothing of it changes nothing");
    let long = "x".repeat(4_000);
    rig.ok(batch(&run, 3, vec![(Millis(8), state(asks, &long, &long))])).await;
    assert_eq!(now().await.map(|now| now.text.len() + now.evidence.len()), Some(1_000));

    rig.ok(AdvanceRun { run: run.id, attempt: 1, event: RunMove::Exit, now: rig.now() }).await;
    assert_eq!(now().await, None, "it is gone");
    rig.ok(batch(&run, 4, vec![(Millis(9), state(AgentState::Idle, "", "late"))])).await;
    rig.end(&run, Ending::Succeeded).await;
    assert_eq!(now().await, None, "also when the news was late");
}

async fn a_state_that_lasts_keeps_its_beginning(rig: &Rig) {
    let run = terminal(rig).await;
    let asks = AgentState::AsksQuestion;
    for (number, (at, state_now, text, since)) in [
        (1, asks, "a", 1),
        (2, asks, "a", 1),
        (3, asks, "b", 3),
        (4, AgentState::Idle, "", 4),
        (5, AgentState::Idle, "", 4),
    ]
    .into_iter()
    .enumerate()
    {
        let evidence = format!("seen at {at}");
        let number = i64::try_from(number).unwrap() + 1;
        rig.ok(batch(&run, number, vec![(Millis(at), state(state_now, text, &evidence))])).await;
        let found = rig.detail(&run).await.run.agent_state.unwrap();
        assert_eq!((found.state, found.since, found.evidence), (state_now, Millis(since), evidence));
    }
}

async fn switch(rig: &Rig, id: TaskId, mode: TaskMode) -> SwitchedMode {
    rig.ok(SwitchMode { id, mode, why: "a person wants it".to_owned(), now: rig.now() }).await
}

/// Whoever asks in whatever order while the run ends: the newest wish counts, and nothing is lost.
async fn a_switch_queues_the_task_again_also_when_it_is_taken_back(rig: &Rig) {
    let (alone, seen) = (TaskMode::Headless, TaskMode::Interactive);
    for wishes in [vec![alone], vec![alone, seen], vec![alone, seen, seen], vec![alone, seen, alone]] {
        let run = terminal(rig).await;
        for (number, mode) in wishes.iter().enumerate() {
            let switched = switch(rig, run.task, *mode).await;
            assert_eq!(switched.stopped.is_some(), *mode == alone, "wish {number} of {wishes:?}");
            let is_repeated = number > 0 && wishes[number - 1] == *mode;
            assert_eq!(switched.unchanged, is_repeated, "wish {number} of {wishes:?}");
        }
        let stop = rig.detail(&run).await.run.stop.unwrap();
        assert_eq!(stop.kind, StopKind::Switch);
        rig.end(&run, Ending::Released(stop.why)).await;
        let next = rig.claim(1).await.remove(0);
        assert_eq!((next.task.id, next.run.mode), (run.task, *wishes.last().unwrap()), "{wishes:?}");
        rig.end(&next.run, Ending::Cancelled("enough".to_owned())).await;
    }
}

async fn a_run_that_was_stopped_by_nobody_who_waits_fails_its_task(rig: &Rig) {
    let run = terminal(rig).await;
    let stop = StopRequest { kind: StopKind::Release, why: "codefleet was stopped".to_owned() };
    rig.ok(RequestStop { run: run.id, stop, now: rig.now() }).await;
    rig.end(&run, Ending::Released("codefleet was stopped".to_owned())).await;
    assert_eq!(rig.detail(&run).await.task.unwrap().state(), TaskState::Failed);

    let run = terminal(rig).await;
    let stop = StopRequest { kind: StopKind::Release, why: "codefleet was stopped".to_owned() };
    rig.ok(RequestStop { run: run.id, stop, now: rig.now() }).await;
    switch(rig, run.task, TaskMode::Headless).await;
    rig.end(&run, Ending::Released("a person waits".to_owned())).await;
    assert_eq!(rig.detail(&run).await.task.unwrap().state(), TaskState::Queued, "the switch counts more");
}
