//! Claiming: the best ready tasks, in order, never twice.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::Current;
use fleet_core::budget::Bounds;
use fleet_core::event::Fact;
use fleet_core::id::{RunId, TaskId};
use fleet_core::run::{Ending, Run, Totals};
use fleet_core::schedule::Caps;
use fleet_core::task::{Status, Task, TaskEdit, TaskMode, TaskMove, TaskState};
use fleet_store::ops::{
    Claim, Claimed, EditTask, ListReady, ListTasks, NewTask, StatusFilter, TaskEvents, TaskFilter,
};

use crate::harness::{HERE, LEASE, Rig, together};

story! {
    the_most_urgent_and_then_the_oldest_come_first
    a_claim_takes_no_more_than_its_slots
    no_slots_claim_nothing
    a_claimed_task_has_a_run_with_a_lease
    a_claim_under_caps_writes_what_a_free_one_writes
    each_claim_has_a_higher_fencing_number
    what_is_not_due_is_not_claimed_until_it_is
    only_queued_tasks_are_claimed
    many_claimers_never_take_a_task_twice
}

fn ids(claimed: &[Claimed]) -> Vec<TaskId> {
    claimed.iter().map(|claimed| claimed.task.id).collect()
}

fn urgent(draft: NewTask, priority: i64) -> NewTask {
    let mut draft = draft;
    draft.spec.priority = priority.try_into().unwrap();
    draft
}

async fn the_most_urgent_and_then_the_oldest_come_first(rig: &Rig) {
    let drafts = rig.drafts(10).await;
    let priorities = [3, 1, 5, 3, 4, 5, 2, 1, 4, 2];
    let drafts: Vec<_> = drafts.into_iter().zip(priorities).map(|(draft, p)| urgent(draft, p)).collect();
    let mut order: Vec<(i64, TaskId)> =
        drafts.iter().map(|draft| (-draft.spec.priority.get(), draft.id)).collect();
    order.sort_unstable();
    let order: Vec<TaskId> = order.into_iter().map(|(_, id)| id).collect();
    rig.add(drafts).await;
    let ready = rig.ok(ListReady { filter: TaskFilter::default(), limit: 100, now: rig.now() }).await;
    assert_eq!(ready.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), order);
    rig.news().await;
    let mut served = ids(&rig.claim(1).await);
    served.extend(ids(&rig.claim(4).await));
    served.extend(ids(&rig.claim(100).await));
    assert_eq!(served, order);
    let told: Vec<TaskId> = rig.news().await.iter().map(|event| event.subject.task.unwrap()).collect();
    assert_eq!(told, order);
}

async fn a_claim_takes_no_more_than_its_slots(rig: &Rig) {
    rig.tasks(5).await;
    assert_eq!(rig.claim(2).await.len(), 2);
    assert_eq!(rig.claim(2).await.len(), 2);
    assert_eq!(rig.claim(2).await.len(), 1);
    assert_eq!(rig.claim(2).await.len(), 0);
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.started").count(), 5);
}

async fn no_slots_claim_nothing(rig: &Rig) {
    rig.tasks(3).await;
    let before = rig.place().dump().await;
    assert!(rig.claim(0).await.is_empty());
    assert_eq!(rig.place().dump().await, before);
}

async fn a_claimed_task_has_a_run_with_a_lease(rig: &Rig) {
    let mut draft = rig.draft("one").await;
    draft.spec.description = "the whole prompt".parse().unwrap();
    draft.spec.agent = Some("codex".parse().unwrap());
    let (with_agent, without) = (rig.add_one(draft).await, rig.task("two").await);
    rig.pass(Duration::from_secs(7));
    rig.news().await;
    let claim = rig.claiming(2);
    let (runs, now) = (claim.runs.clone(), rig.now());
    let claimed = rig.ok(claim).await;
    let project = rig.project("/repo/.git").await;
    let run = |id: RunId, task, agent: &str| Run {
        id,
        task,
        project,
        attempt: 1,
        state: Current::first(),
        reason: None,
        detail: None,
        runner: "runner".to_owned(),
        place: HERE.to_owned(),
        mode: TaskMode::Headless,
        agent: agent.to_owned(),
        model: None,
        branch: None,
        base: None,
        workspace: None,
        keeper: None,
        session: None,
        meter: None,
        usage: Totals::default(),
        reserved: Bounds::default(),
        account: None,
        activity: None,
        percent: None,
        agent_state: None,
        decoded: 0,
        batches: 0,
        stop: None,
        lease_until: now.plus(LEASE),
        created_at: now,
        started_at: None,
        ended_at: None,
    };
    let expected = [run(runs[0], with_agent, "codex"), run(runs[1], without, "claude")];
    for (claimed, expected) in claimed.iter().zip(&expected) {
        assert_eq!(claimed.run, *expected);
        let detail = rig.get(expected.task).await;
        assert_eq!(detail.runs, std::slice::from_ref(expected));
        assert_eq!((detail.task.state(), detail.task.history.attempts), (TaskState::Running, 1));
        assert_eq!((detail.task.version, detail.task.updated_at), (2, now));
        assert_eq!((&claimed.task.spec, claimed.task.state()), (&detail.task.spec, TaskState::Running));
    }
    assert_eq!(claimed[0].task.spec.description.as_str(), "the whole prompt");
    let news = rig.news().await;
    let told = |run: &Run| {
        let (runner, agent) = (run.runner.clone(), run.agent.clone());
        Fact::TaskStarted { runner, agent, attempt: 1, lease_until: run.lease_until }
    };
    assert_eq!(
        news.iter().map(|event| event.fact.clone()).collect::<Vec<_>>(),
        expected.each_ref().map(told)
    );
    assert_eq!(news.iter().map(|event| event.subject.run.unwrap()).collect::<Vec<_>>(), runs);
}

/// What claims left of a task, with the ids of another in place of its own.
async fn traces(rig: &Rig, id: TaskId, as_task: TaskId, as_run: RunId) -> (Task, Run, Vec<Fact>) {
    let mut detail = rig.get(id).await;
    detail.task.id = as_task;
    let run = Run { id: as_run, task: as_task, ..detail.runs.pop().unwrap() };
    let events = rig.ok(TaskEvents { task: id, limit: 100 }).await;
    (detail.task, run, events.into_iter().map(|event| event.fact).collect())
}

/// One may take a shorter way than the other.
async fn a_claim_under_caps_writes_what_a_free_one_writes(rig: &Rig) {
    let mut drafts = rig.drafts(2).await;
    for draft in &mut drafts {
        draft.spec.title = "same".parse().unwrap();
        draft.spec.description = "the prompt".parse().unwrap();
        draft.spec.not_before = Some(rig.now());
    }
    let tasks = rig.add(drafts).await;
    for attempt in 1..=3 {
        rig.pass(Duration::from_secs(1));
        let mut runs = Vec::new();
        for (id, total) in tasks.iter().zip([None, Some(2)]) {
            let caps = Caps { total, ..Caps::default() };
            let claimed = rig.ok(Claim { caps, ..rig.claiming(1) }).await.pop().unwrap();
            assert_eq!((claimed.task.id, claimed.run.attempt), (*id, attempt));
            let stored = rig.get(*id).await;
            assert_eq!((Some(&claimed.run), &claimed.task.spec), (stored.runs.last(), &stored.task.spec));
            runs.push(claimed.run);
        }
        let free = traces(rig, tasks[0], tasks[0], runs[0].id).await;
        assert_eq!(traces(rig, tasks[1], tasks[0], runs[0].id).await, free);
        // With something for the next claim to clear away.
        for run in runs {
            rig.end(&run, Ending::Released("again".to_owned())).await;
        }
    }
}

async fn each_claim_has_a_higher_fencing_number(rig: &Rig) {
    let id = rig.task("one").await;
    for attempt in 1..=5 {
        let run = rig.start(id).await;
        assert_eq!(run.attempt, attempt);
        rig.end(&run, Ending::Released("again".to_owned())).await;
    }
    let detail = rig.get(id).await;
    assert_eq!(
        detail.runs.iter().map(|run| run.attempt).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5],
        "oldest first"
    );
    assert_eq!(detail.task.history.attempts, 5);
    assert_eq!(rig.kinds().await[2..], ["task.started", "task.requeued"].repeat(5));
}

async fn what_is_not_due_is_not_claimed_until_it_is(rig: &Rig) {
    let later = rig.now().plus(Duration::from_secs(100));
    let mut drafts = rig.drafts(3).await;
    drafts[0] = urgent(drafts[0].clone(), 5);
    drafts[0].spec.not_before = Some(later);
    drafts[1].spec.not_before = Some(rig.now());
    let tasks = rig.add(drafts).await;
    assert_eq!(rig.get(tasks[0]).await.task.status(rig.now()), Status::Scheduled);
    let listed = async |status: Status| -> Vec<TaskId> {
        let (statuses, filter) = (StatusFilter(vec![status]), TaskFilter::default());
        let page = rig.ok(ListTasks { statuses, filter, limit: 10, now: rig.now() }).await;
        page.tasks.iter().map(|task| task.id).collect()
    };
    assert_eq!(listed(Status::Scheduled).await, [tasks[0]]);
    assert_eq!(listed(Status::Ready).await, tasks[1..]);
    assert_eq!(ids(&rig.claim(1).await), [tasks[1]]);
    rig.pass(Duration::from_secs(99));
    assert_eq!(ids(&rig.claim(1).await), [tasks[2]]);
    rig.pass(Duration::from_secs(1));
    assert_eq!(listed(Status::Ready).await, [tasks[0]], "due, before any claim has looked");
    assert_eq!(listed(Status::Scheduled).await, []);
    assert_eq!(ids(&rig.claim(1).await), [tasks[0]]);

    let other = rig.task("other").await;
    let postpone = |at| TaskEdit { not_before: Some(at), ..TaskEdit::default() };
    let at = Some(rig.now().plus(Duration::from_secs(5)));
    rig.ok(EditTask { id: other, edit: postpone(at), now: rig.now() }).await;
    assert!(rig.claim(1).await.is_empty());
    rig.ok(EditTask { id: other, edit: postpone(None), now: rig.now() }).await;
    assert_eq!(ids(&rig.claim(1).await), [other]);
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.started").count(), 4);
}

async fn only_queued_tasks_are_claimed(rig: &Rig) {
    let tasks = rig.tasks(5).await;
    rig.moved(tasks[0], TaskMove::Hold).await;
    rig.moved(tasks[1], TaskMove::Cancel).await;
    rig.ok(rig.depending(tasks[2], tasks[3])).await;
    assert_eq!(ids(&rig.claim(10).await), tasks[3..]);
    assert!(rig.claim(10).await.is_empty());
    rig.moved(tasks[0], TaskMove::Release).await;
    rig.moved(tasks[1], TaskMove::Retry).await;
    assert_eq!(ids(&rig.claim(10).await), tasks[..2]);
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.started").count(), 4);
}

/// Claims until nothing is left; the tasks in the order in which they were given.
async fn drain(rig: Rig, claim: impl Fn(&Rig) -> Claim) -> Vec<Claimed> {
    let mut all = Vec::new();
    loop {
        let some = rig.ok(claim(&rig)).await;
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

async fn many_claimers_never_take_a_task_twice(rig: &Rig) {
    let tasks = rig.tasks(300).await;
    rig.news().await;
    let mut rigs = Vec::new();
    for _ in 0..4 {
        rigs.push(rig.elsewhere().await);
    }
    let claimers = rigs.iter().cycle().take(32).cloned().enumerate();
    let claimed = together(claimers.map(|(n, rig)| drain(rig, move |rig| rig.claiming(1 + n % 3)))).await;
    let all: Vec<TaskId> = claimed.iter().flat_map(|claimed| ids(claimed)).collect();
    assert_eq!(all.len(), 300);
    assert_eq!(all.iter().copied().collect::<BTreeSet<_>>(), tasks.into_iter().collect());
    let runs: BTreeSet<RunId> = claimed.iter().flatten().map(|claimed| claimed.run.id).collect();
    assert_eq!(runs.len(), 300);
    assert!(claimed.iter().flatten().all(|claimed| claimed.run.attempt == 1));
    assert_eq!(rig.kinds().await, vec!["task.started"; 300]);
}
