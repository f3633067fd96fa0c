//! Sets of tasks: a list of a batch, narrowed further or not.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::id::{BatchId, ProjectId, TaskId};
use fleet_core::task::{Label, TaskMove};
use fleet_store::ops::{ListTasks, NewTask, Ready, StatusFilter, TaskFilter};

use crate::harness::Rig;

story! {
    a_batch_is_listed_with_every_other_condition
    what_is_ready_of_a_batch
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
    let ready = rig.ok(Ready { filter, limit: 10, now: rig.now() }).await.tasks;
    assert_eq!(ready.iter().map(|task| task.id).collect::<Vec<_>>(), [ids[1], ids[2], ids[0]]);
}
