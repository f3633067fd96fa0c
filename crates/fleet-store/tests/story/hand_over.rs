//! Tasks that go on with another agent.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::policy::{FailureAction, Policy, RetryPolicy};
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::schedule::Caps;
use fleet_core::task::{AgentName, Task, TaskEdit, TaskMove, TaskState};
use fleet_store::ops::{
    Claim, EditTask, EndRun, FailureSettings, HandOverWaiting, ListPauses, PauseAccount, WaitingTasks,
    WaitingWork,
};

use crate::harness::{HERE, Rig};

story! {
    an_exhausted_agent_hands_over_at_once
    the_next_that_is_free_takes_over
    when_all_are_paused_the_first_to_be_free_goes_on
    back_to_the_author_s_agent_is_no_longer_handed_over
    without_anybody_else_the_task_waits
    an_agent_that_failed_by_itself_hands_over_and_that_counts
    a_person_who_retries_or_names_an_agent_takes_it_back
    the_way_of_the_claim_makes_no_difference
    what_waits_for_a_refused_agent_is_handed_over
    what_waits_for_an_agent_that_a_person_paused_goes_on_waiting
}

fn name(agent: &str) -> AgentName {
    agent.parse().unwrap()
}

fn fallback(agents: &[&str]) -> FailureSettings {
    FailureSettings {
        default_agent: Some(name("claude")),
        fallback: agents.iter().map(|agent| name(agent)).collect(),
        ..FailureSettings::default()
    }
}

async fn exhausted(rig: &Rig, run: &Run, after: FailureSettings) -> Task {
    let ending = Ending::Failed(Reason::QuotaExhausted, "come back later".to_owned());
    rig.ok(EndRun { after, ..rig.ending(run, ending) }).await
}

async fn claim_by(rig: &Rig, id: TaskId, agent: &str) -> Run {
    let run = rig.start(id).await;
    assert_eq!(run.agent, agent);
    run
}

async fn paused(rig: &Rig) -> Vec<String> {
    rig.ok(ListPauses { now: rig.now() }).await.into_iter().map(|pause| pause.account).collect()
}

fn handed_to(task: &Task) -> Option<&str> {
    task.history.handed_to.as_ref().map(AgentName::as_str)
}

async fn an_exhausted_agent_hands_over_at_once(rig: &Rig) {
    let mut draft = rig.draft("one").await;
    draft.spec.agent = Some(name("claude"));
    draft.spec.model = Some("opus".parse().unwrap());
    draft.spec.retry = RetryPolicy { retries: 0, backoff_seconds: 60, ..RetryPolicy::default() };
    let id = rig.add_one(draft).await;
    let run = claim_by(rig, id, "claude").await;
    rig.news().await;
    let task = exhausted(rig, &run, fallback(&["codex", "gemini"])).await;
    assert_eq!((task.state(), task.history.failures, task.history.waits), (TaskState::Queued, 0, 1));
    let stored = rig.get(id).await.task;
    assert_eq!((&stored.history, &stored.spec), (&task.history, &task.spec));
    assert_eq!((handed_to(&task), task.agent(), task.model()), (Some("codex"), Some(&name("codex")), None));
    assert_eq!(task.spec.agent, Some(name("claude")), "what its author wanted stays");
    assert_eq!(paused(rig).await, ["claude"]);
    let facts = rig.facts().await;
    let (from, to) = ("claude".to_owned(), "codex".to_owned());
    assert_eq!(facts[1], Fact::TaskHandedOver { from, to, reason: Reason::QuotaExhausted });
    assert!(matches!(facts[2], Fact::TaskRequeued { failures: 0, not_before: None, .. }), "{facts:?}");
    let run = claim_by(rig, id, "codex").await;
    rig.succeed(&run).await;
    assert_eq!(handed_to(&rig.get(id).await.task), Some("codex"), "who did it in the end");
}

async fn the_next_that_is_free_takes_over(rig: &Rig) {
    let id = rig.task("one").await;
    let until = rig.now().plus(Duration::from_hours(1));
    let (account, why) = ("openai:work".to_owned(), "limit".to_owned());
    rig.ok(PauseAccount { account, agent: None, until, why, now: rig.now() }).await;
    let run = claim_by(rig, id, "claude").await;
    let mut after = fallback(&["codex", "gemini"]);
    after.accounts.insert(name("codex"), "openai:work".to_owned());
    assert_eq!(handed_to(&exhausted(rig, &run, after).await), Some("gemini"));
    let run = claim_by(rig, id, "gemini").await;
    rig.end(&run, Ending::Failed(Reason::AgentError, "oh".to_owned())).await;
    rig.pass(Duration::from_mins(1));
    claim_by(rig, id, "gemini").await;
}

async fn when_all_are_paused_the_first_to_be_free_goes_on(rig: &Rig) {
    let id = rig.task("one").await;
    let run = claim_by(rig, id, "claude").await;
    let until = |minutes| Some(rig.now().plus(Duration::from_mins(minutes)));
    let task = exhausted(rig, &run, FailureSettings { reset: until(60), ..fallback(&["codex"]) }).await;
    assert_eq!(handed_to(&task), Some("codex"));
    let run = claim_by(rig, id, "codex").await;
    let task = exhausted(rig, &run, FailureSettings { reset: until(600), ..fallback(&["codex"]) }).await;
    assert_eq!((handed_to(&task), task.history.waits), (None, 2), "its own agent is back before the other");
    assert!(rig.claim(1).await.is_empty());
    rig.pass(Duration::from_mins(59));
    assert!(rig.claim(1).await.is_empty());
    rig.pass(Duration::from_mins(1));
    claim_by(rig, id, "claude").await;
}

async fn back_to_the_author_s_agent_is_no_longer_handed_over(rig: &Rig) {
    let mut draft = rig.draft("one").await;
    draft.spec.agent = Some(name("codex"));
    draft.spec.model = Some("gpt".parse().unwrap());
    let id = rig.add_one(draft).await;
    let run = claim_by(rig, id, "codex").await;
    exhausted(rig, &run, fallback(&["gemini"])).await;
    let run = claim_by(rig, id, "gemini").await;
    rig.pass(Duration::from_mins(15));
    let task = exhausted(rig, &run, fallback(&["gemini"])).await;
    assert_eq!((handed_to(&task), task.model().map(ToString::to_string)), (None, Some("gpt".to_owned())));
    claim_by(rig, id, "codex").await;
}

async fn without_anybody_else_the_task_waits(rig: &Rig) {
    let id = rig.task("one").await;
    for after in [FailureSettings::default(), fallback(&[]), fallback(&["claude"])] {
        let run = claim_by(rig, id, "claude").await;
        let task = exhausted(rig, &run, after).await;
        assert_eq!((task.state(), handed_to(&task)), (TaskState::Queued, None));
        assert!(rig.claim(1).await.is_empty());
        rig.pass(Duration::from_hours(1));
    }
    assert!(!rig.kinds().await.contains(&"task.handed_over".to_owned()));
}

async fn an_agent_that_failed_by_itself_hands_over_and_that_counts(rig: &Rig) {
    let mut draft = rig.draft("one").await;
    draft.spec.retry = RetryPolicy { retries: 2, backoff_seconds: 60, ..RetryPolicy::default() };
    let id = rig.add_one(draft).await;
    let policy = Policy::default().with(Reason::Stale, FailureAction::HandOver);
    let stale = async |agent: &str| {
        let run = claim_by(rig, id, agent).await;
        let after = FailureSettings { policy: policy.clone(), ..fallback(&["codex"]) };
        let ending = Ending::Failed(Reason::Stale, "silence".to_owned());
        rig.ok(EndRun { after, ..rig.ending(&run, ending) }).await
    };
    assert_eq!(handed_to(&stale("claude").await), Some("codex"));
    assert_eq!(handed_to(&stale("codex").await), None, "in turn");
    let task = stale("claude").await;
    assert_eq!((task.state(), task.history.failures, task.history.waits), (TaskState::Failed, 3, 0));
    assert_eq!(paused(rig).await, [""; 0], "the accounts are well");
}

async fn a_person_who_retries_or_names_an_agent_takes_it_back(rig: &Rig) {
    let id = rig.task("one").await;
    let run = claim_by(rig, id, "claude").await;
    exhausted(rig, &run, fallback(&["codex"])).await;
    let edit = |edit: TaskEdit| EditTask { id, edit, now: rig.now() };
    let title = TaskEdit { title: Some("two".parse().unwrap()), ..TaskEdit::default() };
    assert_eq!(handed_to(&rig.ok(edit(title)).await.0), Some("codex"), "that is about something else");
    let as_ever = TaskEdit { agent: Some(None), ..TaskEdit::default() };
    let (task, fields) = rig.ok(edit(as_ever.clone())).await;
    assert_eq!((handed_to(&task), fields), (None, vec!["agent"]));
    assert_eq!(rig.ok(edit(as_ever)).await.1, [""; 0]);
    let gemini = TaskEdit { agent: Some(Some(name("gemini"))), ..TaskEdit::default() };
    rig.ok(edit(gemini)).await;
    let run = claim_by(rig, id, "gemini").await;
    exhausted(rig, &run, fallback(&["codex"])).await;
    rig.moved(id, TaskMove::Hold).await;
    let task = rig.moved(id, TaskMove::Retry).await;
    assert_eq!((handed_to(&task), task.agent(), task.history.waits), (None, Some(&name("gemini")), 0));
    rig.pass(Duration::from_mins(15));
    claim_by(rig, id, "gemini").await;
}

async fn the_way_of_the_claim_makes_no_difference(rig: &Rig) {
    let id = rig.task("one").await;
    let run = claim_by(rig, id, "claude").await;
    exhausted(rig, &run, fallback(&["codex"])).await;
    rig.pass(Duration::from_mins(15));
    let capped = Caps { total: Some(9), ..Caps::default() };
    let able = Some(std::iter::once(name("codex")).collect());
    for (caps, able) in [(Caps::default(), None), (Caps::default(), able.clone()), (capped, able)] {
        let claimed = rig.ok(Claim { caps, able, ..rig.claiming(1) }).await.pop().unwrap();
        assert_eq!((claimed.run.agent.as_str(), handed_to(&claimed.task)), ("codex", Some("codex")));
        rig.end(&claimed.run, Ending::Released("again".to_owned())).await;
    }
    let others = Some(std::iter::once(name("claude")).collect());
    assert!(rig.ok(Claim { able: others, ..rig.claiming(1) }).await.is_empty());
}

async fn waiting(rig: &Rig) -> Vec<WaitingTasks> {
    let accounts = std::iter::once((name("claude"), "anthropic".to_owned())).collect();
    rig.ok(WaitingWork { place: HERE.to_owned(), default_agent: name("claude"), accounts, now: rig.now() })
        .await
}

async fn what_waits_for_a_refused_agent_is_handed_over(rig: &Rig) {
    let [first, plain, named, other] =
        [rig.task("a").await, rig.task("b").await, rig.task("c").await, rig.task("d").await];
    let agent = |agent| TaskEdit { agent: Some(Some(name(agent))), ..TaskEdit::default() };
    for (id, agent) in [(named, agent("claude")), (other, agent("gemini"))] {
        rig.ok(EditTask { id, edit: agent, now: rig.now() }).await;
    }
    let mut after = fallback(&["codex"]);
    after.accounts.insert(name("claude"), "anthropic".to_owned());
    let claim = Claim { accounts: after.accounts.clone(), ..rig.claiming(1) };
    let run = rig.ok(claim).await.pop().unwrap().run;
    assert_eq!((run.task, waiting(rig).await), (first, Vec::new()), "nobody is refused yet");
    exhausted(rig, &run, after.clone()).await;
    let found = waiting(rig).await;
    let about: Vec<_> = found.iter().map(|waiting| (waiting.agent.as_str(), waiting.reason)).collect();
    assert_eq!(about, [("claude", Reason::QuotaExhausted)]);
    let (project, agent, reason) = (found[0].project.id, name("claude"), found[0].reason);
    let hand_over = |most| {
        let (after, agent) = (after.clone(), agent.clone());
        HandOverWaiting { project, agent, reason, after, most, now: rig.now() }
    };
    rig.news().await;
    assert_eq!(rig.ok(hand_over(1)).await, 1, "no more than can be started");
    let facts = rig.facts().await;
    let (from, to) = ("claude".to_owned(), "codex".to_owned());
    assert_eq!(facts, [Fact::TaskHandedOver { from, to, reason }]);
    assert_eq!((rig.ok(hand_over(9)).await, rig.ok(hand_over(9)).await), (1, 0));
    for (id, to) in [(first, "codex"), (plain, "codex"), (named, "codex")] {
        assert_eq!(handed_to(&rig.get(id).await.task), Some(to));
    }
    assert_eq!(handed_to(&rig.get(other).await.task), None);
    assert_eq!(waiting(rig).await, []);
    let until = rig.now().plus(Duration::from_hours(1));
    let (account, why) = ("codex".to_owned(), "limit".to_owned());
    rig.ok(PauseAccount { account, agent: None, until, why, now: rig.now() }).await;
    rig.task("e").await;
    assert_eq!(rig.ok(hand_over(9)).await, 0, "nobody is free");
}

async fn what_waits_for_an_agent_that_a_person_paused_goes_on_waiting(rig: &Rig) {
    rig.task("a").await;
    let until = rig.now().plus(Duration::from_hours(1));
    for account in ["claude", "anthropic"] {
        let (account, why) = (account.to_owned(), "lunch".to_owned());
        rig.ok(PauseAccount { account, agent: None, until, why, now: rig.now() }).await;
    }
    assert_eq!(waiting(rig).await, []);
}
