//! What people paused is not started by anybody, until they lift the pause.

use fleet_core::id::TaskId;
use fleet_core::schedule::PauseScope;
use fleet_store::ops::{Claimed, ListPauses, ListQueuePauses, NewTask, PauseQueue, ResumeQueue};

use crate::harness::Rig;

story! {
    a_pause_of_everything_stops_every_claim_until_it_is_lifted
    a_pause_of_a_project_or_an_agent_leaves_the_rest
    a_pause_again_changes_only_its_reason
}

fn by(mut draft: NewTask, agent: &str) -> NewTask {
    draft.spec.agent = Some(agent.parse().unwrap());
    draft
}

fn pause(rig: &Rig, scope: &PauseScope, why: &str) -> PauseQueue {
    PauseQueue { scope: scope.clone(), why: why.to_owned(), now: rig.now() }
}

fn resume(rig: &Rig, scope: &PauseScope) -> ResumeQueue {
    ResumeQueue { scope: scope.clone(), now: rig.now() }
}

fn ids(claimed: &[Claimed]) -> Vec<TaskId> {
    claimed.iter().map(|claimed| claimed.task.id).collect()
}

async fn a_pause_of_everything_stops_every_claim_until_it_is_lifted(rig: &Rig) {
    let (one, two) = (rig.task("one").await, rig.task("two").await);
    let running = rig.claim(1).await;
    assert_eq!(ids(&running), [one]);
    rig.news().await;
    let all = PauseScope::default();
    assert!(rig.ok(pause(rig, &all, "lunch")).await);
    for slots in [1, 10] {
        assert_eq!(ids(&rig.claim(slots).await), []);
    }
    rig.pass(std::time::Duration::from_hours(1_000));
    assert_eq!(ids(&rig.claim(1).await), [], "it does not end by itself");
    assert_eq!(rig.ok(ListPauses { now: rig.now() }).await, [], "it is not a pause of an account");
    assert!(rig.ok(resume(rig, &all)).await);
    assert!(!rig.ok(resume(rig, &all)).await, "there is none any more");
    assert_eq!(ids(&rig.claim(10).await), [two]);
    let kinds = rig.kinds().await;
    assert_eq!(
        (kinds.first().map(String::as_str), kinds.iter().filter(|kind| *kind == "queue.resumed").count()),
        (Some("queue.paused"), 1)
    );
}

async fn a_pause_of_a_project_or_an_agent_leaves_the_rest(rig: &Rig) {
    let (web, api) = (rig.project("/web/.git").await, rig.project("/api/.git").await);
    let draft = |project, agent| by(rig.draft_in(project, "t"), agent);
    let drafts = [(web, "codex"), (web, "gemini"), (api, "codex"), (api, "gemini")];
    let of =
        |project, agent: Option<&str>| PauseScope { project, agent: agent.map(|name| name.parse().unwrap()) };
    for (scope, starts) in [
        (of(Some(web), None), &[2, 3][..]),
        (of(None, Some("codex")), &[1, 3]),
        (of(Some(api), Some("gemini")), &[0, 1, 2]),
    ] {
        let tasks = rig.add(drafts.map(|(project, agent)| draft(project, agent)).into()).await;
        rig.ok(pause(rig, &scope, "no")).await;
        let claimed = rig.claim(10).await;
        let expected: Vec<TaskId> = starts.iter().map(|index| tasks[*index]).collect();
        assert_eq!(ids(&claimed), expected, "{scope}");
        rig.ok(resume(rig, &scope)).await;
        let rest = rig.claim(10).await;
        assert_eq!(claimed.len() + rest.len(), tasks.len());
    }
}

async fn a_pause_again_changes_only_its_reason(rig: &Rig) {
    let scope = PauseScope::default();
    assert!(rig.ok(pause(rig, &scope, "lunch")).await);
    assert!(!rig.ok(pause(rig, &scope, "dinner")).await);
    let pauses = rig.ok(ListQueuePauses).await;
    assert_eq!(pauses.iter().map(|pause| pause.why.as_str()).collect::<Vec<_>>(), ["dinner"]);
}
