//! Sets of tasks: a list of a batch, narrowed further or not.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::id::{BatchId, ProjectId, TaskId};
use fleet_core::task::{Label, TaskMove};
use fleet_store::ops::{
    CountUpcoming, ListReady, ListTasks, NewTask, StatusFilter, TaskFilter, UpcomingTasks,
};

use crate::harness::Rig;

story! {
    a_batch_is_listed_with_every_other_condition
    what_is_ready_of_a_batch
    upcoming_tasks_are_counted_as_they_are_listed
}

fn is_labelled(draft: &NewTask, label: &str) -> bool {
    draft.spec.labels.iter().any(|own| own.as_str() == label)
}

/// Tasks of two projects, in two batches and in none, some labelled, every fifth scheduled.
fn drafts(rig: &Rig, projects: [ProjectId; 2], batches: [BatchId; 2]) -> Vec<NewTask> {
    let draft = |n: usize| {
        let mut draft = rig.draft_in(projects[n % 2], "one");
        draft.spec.batch = [None, Some(batches[0]), Some(batches[1])][n / 2 % 3];
        draft.spec.priority = i64::try_from(1 + n % 5).unwrap().try_into().unwrap();
        if n % 7 < 3 {
            draft.spec.labels = BTreeSet::from(["x".parse::<Label>().unwrap()]).try_into().unwrap();
        }
        if n.is_multiple_of(5) {
            draft.spec.not_before = Some(rig.now().plus(Duration::from_mins(1)));
        }
        draft
    };
    (0..60).map(draft).collect()
}

async fn a_batch_is_listed_with_every_other_condition(rig: &Rig) {
    let projects = [rig.project("/one/.git").await, rig.project("/two/.git").await];
    let batches: [BatchId; 2] = [rig.id(), rig.id()];
    let all = drafts(rig, projects, batches);
    rig.add(all.clone()).await;
    for bits in 0..8 {
        let has = |bit: usize| bits >> bit & 1 == 1;
        let filter = TaskFilter {
            project: has(0).then_some(projects[1]),
            labels: if has(1) { vec!["x".parse().unwrap()] } else { Vec::new() },
            batch: has(2).then_some(batches[1]),
        };
        let expected: BTreeSet<TaskId> = all
            .iter()
            .filter(|draft| filter.project.is_none_or(|project| draft.project == project))
            .filter(|draft| filter.batch.is_none_or(|batch| draft.spec.batch == Some(batch)))
            .filter(|draft| filter.labels.is_empty() || is_labelled(draft, "x"))
            .map(|draft| draft.id)
            .collect();
        assert!(!expected.is_empty(), "{filter:?}");
        // Scheduled ones count as such, and as ready when their time has come.
        for now in [rig.now(), rig.now().plus(Duration::from_mins(2))] {
            let statuses = StatusFilter::all();
            let list = ListTasks { statuses, filter: filter.clone(), limit: 100, now };
            let found: Vec<TaskId> = rig.ok(list).await.tasks.iter().map(|task| task.id).collect();
            assert_eq!(found.len(), expected.len(), "each once: {filter:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{filter:?}");
        }
    }
}

async fn what_is_ready_of_a_batch(rig: &Rig) {
    let batch = rig.id();
    let mut drafts = rig.drafts(4).await;
    for (draft, priority) in drafts.iter_mut().zip([1, 5, 3, 5]) {
        draft.spec.batch = Some(batch);
        draft.spec.priority = priority.try_into().unwrap();
    }
    let ids = rig.add(drafts).await;
    rig.task("of no batch").await;
    rig.moved(ids[3], TaskMove::Hold).await;
    let filter = TaskFilter { batch: Some(batch), ..TaskFilter::default() };
    let ready = rig.ok(ListReady { filter, limit: 10, now: rig.now() }).await.tasks;
    assert_eq!(ready.iter().map(|task| task.id).collect::<Vec<_>>(), [ids[1], ids[2], ids[0]]);
}

async fn upcoming_tasks_are_counted_as_they_are_listed(rig: &Rig) {
    let projects = [rig.project("/one/.git").await, rig.project("/two/.git").await];
    let mut all = drafts(rig, projects, [rig.id(), rig.id()]);
    for (n, draft) in all.iter_mut().enumerate().filter(|(n, _)| n % 3 > 0) {
        draft.spec.agent = Some(["codex", "claude"][n % 2].parse().unwrap());
    }
    rig.add(all.clone()).await;
    rig.moved(all[1].id, TaskMove::Hold).await;
    let sum = |counts: &[UpcomingTasks]| -> (usize, usize) {
        (counts.iter().map(|one| one.ready).sum(), counts.iter().map(|one| one.scheduled).sum())
    };
    let soon = rig.now().plus(Duration::from_mins(2));
    for (now, ready, scheduled) in [(rig.now(), 47, 12), (soon, 59, 0)] {
        let upcoming = rig.ok(CountUpcoming { limit: 100, now }).await;
        assert_eq!((sum(&upcoming.tasks), upcoming.more_ready), ((ready, scheduled), false));
        for counted in &upcoming.tasks {
            let is_counted = |draft: &&NewTask| {
                let is_due = draft.spec.not_before.is_none_or(|at| at <= now);
                draft.project == counted.project && draft.spec.agent == counted.agent && is_due
            };
            let listed = all.iter().filter(|draft| draft.id != all[1].id).filter(is_counted);
            assert_eq!(listed.count(), counted.ready, "{counted:?}");
        }
    }
    let few = rig.ok(CountUpcoming { limit: 10, now: rig.now() }).await;
    let (ready, scheduled) = sum(&few.tasks);
    assert_eq!((scheduled, few.more_ready, few.more_scheduled), (10, true, true));
    assert!((10..=10 + few.tasks.len()).contains(&ready), "{few:?}");
    let exact = rig.ok(CountUpcoming { limit: 47, now: rig.now() }).await;
    assert_eq!((sum(&exact.tasks), exact.more_ready), ((47, 12), false));
    let named = |counts: &[UpcomingTasks]| -> Vec<_> {
        let ready = counts.iter().filter(|one| one.ready > 0);
        ready.map(|one| (one.project, one.agent.clone())).collect()
    };
    assert_eq!(named(&few.tasks), named(&exact.tasks), "also those that were not reached");
}
