//! What searches look at, and operations that are one.

use std::time::Duration;

use fleet_core::id::TaskId;
use fleet_core::task::{Label, Status, TaskEdit, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{Both, EditTask, TaskTexts};

use crate::harness::Rig;

story! {
    texts_are_the_newest_of_the_statuses_asked_for
    texts_are_narrowed_by_project_and_labels
    two_operations_happen_together_or_not_at_all
}

fn open() -> Vec<Status> {
    vec![Status::In(TaskState::Queued), Status::In(TaskState::Held)]
}

fn asking(rig: &Rig, statuses: Vec<Status>, limit: i64) -> TaskTexts {
    TaskTexts { statuses, project: None, labels: Vec::new(), limit, now: rig.now() }
}

async fn ids(rig: &Rig, texts: TaskTexts) -> Vec<TaskId> {
    rig.ok(texts).await.tasks.iter().map(|task| task.id).collect()
}

async fn texts_are_the_newest_of_the_statuses_asked_for(rig: &Rig) {
    let mut drafts = rig.drafts(10).await;
    for (n, draft) in drafts.iter_mut().enumerate() {
        draft.spec.priority = i64::try_from(1 + n % 5).unwrap().try_into().unwrap();
        draft.spec.description = "ä".repeat(5_000).parse().unwrap();
    }
    drafts[9].spec.not_before = Some(rig.now().plus(Duration::from_mins(1)));
    let all = rig.add(drafts).await;
    rig.moved(all[4], TaskMove::Hold).await;
    rig.moved(all[5], TaskMove::Cancel).await;
    let newest: Vec<TaskId> = all.iter().rev().copied().filter(|id| *id != all[5]).collect();
    let found = rig.ok(asking(rig, open(), 100)).await;
    assert_eq!(found.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), newest);
    assert!(!found.more);
    assert_eq!(found.tasks[0].spec.description.as_str().chars().count(), 4_000, "only the beginning");
    let some = rig.ok(asking(rig, open(), 3)).await;
    assert_eq!(some.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), newest[..3]);
    assert!(some.more);
    assert_eq!(ids(rig, asking(rig, vec![Status::In(TaskState::Cancelled)], 9)).await, [all[5]]);
    assert_eq!(ids(rig, asking(rig, vec![Status::Scheduled], 9)).await, [all[9]]);
    assert!(!ids(rig, asking(rig, vec![Status::Ready], 99)).await.contains(&all[9]));
    rig.pass(Duration::from_mins(2));
    assert_eq!(ids(rig, asking(rig, vec![Status::Ready], 1)).await, [all[9]], "its time has come");
    assert!(ids(rig, asking(rig, Vec::new(), 9)).await.is_empty());
}

async fn texts_are_narrowed_by_project_and_labels(rig: &Rig) {
    let projects = [rig.project("/one/.git").await, rig.project("/two/.git").await];
    let labels: [Label; 2] = ["x".parse().unwrap(), "y".parse().unwrap()];
    let draft = |n: usize| {
        let mut draft = rig.draft_in(projects[n % 2], "one");
        let own = labels.iter().take(n / 2 % 3).cloned();
        draft.spec.labels = own.collect::<std::collections::BTreeSet<_>>().try_into().unwrap();
        draft
    };
    let all = rig.add((0..12).map(draft).collect()).await;
    for (project, wanted) in [(None, 0), (None, 2), (Some(0), 0), (Some(1), 1), (Some(1), 2)] {
        let fits = |n: &usize| project.is_none_or(|project| n % 2 == project) && n / 2 % 3 >= wanted;
        let expected: Vec<TaskId> = (0..12).rev().filter(fits).map(|n| all[n]).collect();
        let asked = TaskTexts {
            project: project.map(|project| projects[project]),
            labels: labels[..wanted].to_vec(),
            ..asking(rig, open(), 99)
        };
        assert_eq!(ids(rig, asked).await, expected, "{project:?} {wanted}");
    }
}

async fn two_operations_happen_together_or_not_at_all(rig: &Rig) {
    let id = rig.task("one").await;
    let edit = |priority: i64| EditTask {
        id,
        edit: TaskEdit { priority: Some(priority.try_into().unwrap()), ..TaskEdit::default() },
        now: rig.now(),
    };
    let refused = rig.refused(Both(edit(5), rig.moving(id, TaskMove::Release))).await;
    assert!(matches!(refused, StoreError::Illegal { .. }), "{refused:?}");
    assert_eq!(rig.get(id).await.task.spec.priority.get(), 3, "nothing is left of the first");
    let ((_, changed), task) = rig.ok(Both(edit(5), rig.moving(id, TaskMove::Hold))).await;
    assert_eq!((changed, task.spec.priority.get(), task.state()), (vec!["priority"], 5, TaskState::Held));
}
