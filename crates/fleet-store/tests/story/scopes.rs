//! File scopes: two tasks that would touch the same files never run together.

use std::collections::BTreeMap;

use fleet_core::event::{Event, Fact};
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::run::Ending;
use fleet_core::scope::FileScope;
use fleet_core::task::TaskMove;
use fleet_store::ops::NewTask;

use crate::harness::{Rig, together};

story! {
    overlapping_scopes_take_turns
    scopes_of_two_projects_never_meet
    however_the_first_ends_the_second_may_start
    tasks_without_a_scope_do_not_wait_behind_those_with_one
    many_claimers_never_start_overlapping_tasks
}

fn touching(mut draft: NewTask, scope: &[&str]) -> NewTask {
    draft.spec.scope = FileScope::parse(scope).unwrap();
    draft
}

async fn claimed(rig: &Rig, slots: usize) -> Vec<TaskId> {
    rig.claim(slots).await.iter().map(|claimed| claimed.task.id).collect()
}

async fn overlapping_scopes_take_turns(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let scopes: [&[&str]; 4] = [&["src/**"], &["src/a.rs", "docs"], &["docs/*.md"], &["tests"]];
    let drafts = scopes.iter().map(|scope| touching(rig.draft_in(project, "t"), scope));
    let tasks = rig.add(drafts.collect()).await;
    rig.news().await;
    let first = rig.claim(10).await;
    let started: Vec<TaskId> = first.iter().map(|claimed| claimed.task.id).collect();
    assert_eq!(started, [tasks[0], tasks[2], tasks[3]], "the second overlaps the first");
    assert_eq!(claimed(rig, 10).await, []);
    rig.succeed(&first[0].run).await;
    assert_eq!(claimed(rig, 10).await, [], "it overlaps the third, too");
    rig.succeed(&first[1].run).await;
    assert_eq!(claimed(rig, 10).await, [tasks[1]]);
    let kinds = rig.kinds().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "task.started").count(), 4);
}

async fn scopes_of_two_projects_never_meet(rig: &Rig) {
    let mut drafts = Vec::new();
    for dir in ["/one/.git", "/two/.git"] {
        let project = rig.project(dir).await;
        drafts.extend((0..2).map(|_| touching(rig.draft_in(project, "t"), &["."])));
    }
    let tasks = rig.add(drafts).await;
    assert_eq!(claimed(rig, 10).await, [tasks[0], tasks[2]]);
    assert_eq!(rig.kinds().await[6..], ["task.started", "task.started"]);
}

async fn however_the_first_ends_the_second_may_start(rig: &Rig) {
    for way in 0..4 {
        let project = rig.project("/one/.git").await;
        let drafts = (0..2).map(|_| touching(rig.draft_in(project, "t"), &["src"])).collect();
        let tasks = rig.add(drafts).await;
        let run = rig.start(tasks[0]).await;
        assert_eq!(claimed(rig, 10).await, []);
        match way {
            0 => drop(rig.succeed(&run).await),
            1 => drop(rig.moved(tasks[0], TaskMove::Cancel).await),
            2 => {
                rig.work(&run).await;
                rig.end(&run, Ending::Asked).await;
            }
            _ => {
                rig.pass(std::time::Duration::from_secs(61));
                assert_eq!(rig.ok(rig.expiring()).await.len(), 1);
            }
        }
        assert_eq!(claimed(rig, 1).await, [tasks[1]], "way {way}");
        rig.moved(tasks[1], TaskMove::Cancel).await;
    }
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.started").count(), 8);
}

async fn tasks_without_a_scope_do_not_wait_behind_those_with_one(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let mut drafts: Vec<_> = (0..200)
        .map(|_| {
            let mut draft = touching(rig.draft_in(project, "scoped"), &["src"]);
            draft.spec.priority = 5.try_into().unwrap();
            draft
        })
        .collect();
    drafts.extend((0..2).map(|_| rig.draft_in(project, "free")));
    let tasks = rig.add(drafts).await;
    assert_eq!(claimed(rig, 1).await, [tasks[0]]);
    assert_eq!(claimed(rig, 1).await, [tasks[200]]);
    assert_eq!(claimed(rig, 5).await, [tasks[201]]);
    assert_eq!(rig.kinds().await[203..], ["task.started", "task.started", "task.started"]);
}

/// The most tasks of one project with one scope that ran at once, as the events tell it.
fn crowd(events: &[Event], scope_of: &BTreeMap<TaskId, (ProjectId, usize)>) -> usize {
    let mut running: BTreeMap<(ProjectId, usize), usize> = BTreeMap::new();
    let mut most = 0;
    for event in events {
        let Some(scope) = event.subject.task.and_then(|task| scope_of.get(&task)) else { continue };
        let now = running.entry(*scope).or_insert(0);
        match event.fact {
            Fact::TaskStarted { .. } => *now += 1,
            Fact::TaskDone {} => *now -= 1,
            _ => {}
        }
        most = most.max(*now);
    }
    most
}

async fn many_claimers_never_start_overlapping_tasks(rig: &Rig) {
    const SCOPES: [&[&str]; 3] = [&["src/**"], &["docs"], &["a", "b"]];
    let projects = [rig.project("/one/.git").await, rig.project("/two/.git").await];
    let drafts: Vec<_> =
        (0..60).map(|n| touching(rig.draft_in(projects[n % 2], "t"), SCOPES[n % SCOPES.len()])).collect();
    let scope_of =
        drafts.iter().enumerate().map(|(n, draft)| (draft.id, (draft.project, n % SCOPES.len()))).collect();
    rig.add(drafts).await;
    let elsewhere = rig.elsewhere().await;
    let claimers = [rig.clone(), elsewhere].into_iter().cycle().take(8).map(|rig| async move {
        for _ in 0..12 {
            for claimed in rig.claim(2).await {
                rig.succeed(&claimed.run).await;
            }
        }
    });
    together(claimers).await;
    let events = rig.news().await;
    assert!(events.iter().any(|event| event.fact == Fact::TaskDone {}));
    assert_eq!(crowd(&events, &scope_of), 1);
}
