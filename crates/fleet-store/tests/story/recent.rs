//! Tasks by their age, page by page.

use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Reason};
use fleet_core::task::{TaskKind, TaskState};
use fleet_store::ops::RecentTasks;

use crate::harness::Rig;

story! {
    the_newest_come_first_and_pages_follow_on
    states_and_timeouts_narrow_it
}

fn recent(kinds: &[TaskKind], before: Option<TaskId>, limit: i64) -> RecentTasks {
    RecentTasks { kinds: kinds.to_vec(), project: None, before, limit }
}

async fn ids(rig: &Rig, op: RecentTasks) -> Vec<TaskId> {
    rig.ok(op).await.iter().map(|seen| seen.task.id).collect()
}

async fn the_newest_come_first_and_pages_follow_on(rig: &Rig) {
    let mut all = rig.tasks(5).await;
    all.reverse();
    assert_eq!(ids(rig, recent(&[], None, 10)).await, all);
    assert_eq!(ids(rig, recent(&[], None, 2)).await, all[..2]);
    assert_eq!(ids(rig, recent(&[], Some(all[1]), 2)).await, all[2..4]);
    assert!(ids(rig, recent(&[], Some(all[4]), 2)).await.is_empty());
    let elsewhere = rig.project("/elsewhere/.git").await;
    let there = RecentTasks { project: Some(elsewhere), ..recent(&[], None, 10) };
    assert!(ids(rig, there).await.is_empty());
}

async fn states_and_timeouts_narrow_it(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let once = || {
        let mut draft = rig.draft_in(project, "one");
        draft.spec.retry.retries = 0;
        draft
    };
    let drafts = [once(), once(), once(), once()];
    let [working, slow, wrong, waiting] = drafts.each_ref().map(|draft| draft.id);
    rig.add(drafts.to_vec()).await;
    let run = rig.start(working).await;
    for (task, reason) in [(slow, Reason::TimedOut), (wrong, Reason::NoChanges)] {
        let run = rig.start(task).await;
        rig.end(&run, Ending::Failed(reason, "so it is".to_owned())).await;
    }
    let kind = |state, timed_out| TaskKind { state, timed_out };
    let (queued, running) = (kind(TaskState::Queued, None), kind(TaskState::Running, None));
    assert_eq!(ids(rig, recent(&[queued], None, 10)).await, [waiting]);
    let seen = rig.ok(recent(&[running], None, 10)).await;
    assert_eq!(seen[0].run.as_ref().map(|run| run.id), Some(run.id));
    assert_eq!(ids(rig, recent(&[running, queued], None, 10)).await, [waiting, working]);
    let failed = |timed_out| recent(&[kind(TaskState::Failed, timed_out)], None, 10);
    assert_eq!(ids(rig, failed(None)).await, [wrong, slow]);
    assert_eq!(ids(rig, failed(Some(true))).await, [slow]);
    assert_eq!(ids(rig, failed(Some(false))).await, [wrong]);
}
