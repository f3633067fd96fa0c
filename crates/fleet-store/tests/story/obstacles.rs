//! Why a blocked task does not start, and what sets it free.

use fleet_core::deps::Obstacle;
use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_store::ops::{ListTasks, StatusFilter, TaskFilter};

use crate::harness::Rig;

story! {
    a_failed_dependency_is_the_obstacle_until_it_succeeds
    a_cancelled_dependency_is_the_obstacle_until_it_is_not_waited_for
    something_on_its_way_is_an_obstacle_too
}

async fn obstacle(rig: &Rig, id: TaskId) -> Option<Obstacle> {
    let (statuses, filter) = (StatusFilter::all(), TaskFilter::default());
    let mut page = rig.ok(ListTasks { statuses, filter, limit: 100, now: rig.now() }).await;
    assert!(page.tasks.iter().any(|task| task.id == id), "the task itself is listed");
    page.obstacles.remove(&id)
}

async fn give_up(rig: &Rig, run: &Run) {
    rig.end(run, Ending::Failed(Reason::Auth, "credentials refused".to_owned())).await;
}

fn behind(chain: &[TaskId], state: TaskState) -> Obstacle {
    Obstacle { chain: chain.to_vec(), state }
}

async fn a_failed_dependency_is_the_obstacle_until_it_succeeds(rig: &Rig) {
    let cause = rig.task("cause").await;
    let middle = rig.task_after("middle", &[cause]).await;
    let end = rig.task_after("end", &[middle]).await;
    let run = rig.start(cause).await;
    give_up(rig, &run).await;
    let found = obstacle(rig, end).await;
    assert_eq!(found, Some(behind(&[middle, cause], TaskState::Failed)));
    assert!(found.unwrap().is_final());
    assert_eq!(obstacle(rig, middle).await, Some(behind(&[cause], TaskState::Failed)));
    assert_eq!(obstacle(rig, cause).await, None);

    rig.moved(cause, TaskMove::Retry).await;
    assert_eq!(
        obstacle(rig, end).await,
        Some(behind(&[middle], TaskState::Queued)),
        "now it is only a matter of time"
    );
    rig.finish(cause).await;
    assert_eq!(obstacle(rig, middle).await, None);
    rig.finish(middle).await;
    rig.finish(end).await;
    let kinds = rig.kinds().await;
    let told: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| kind.starts_with("task.")).collect();
    let ends = ["task.started", "task.done"].repeat(3);
    assert_eq!(told[3..6], ["task.started", "task.failed", "task.retried"]);
    assert_eq!(told[6..], ends);
}

async fn a_cancelled_dependency_is_the_obstacle_until_it_is_not_waited_for(rig: &Rig) {
    let cause = rig.task("cause").await;
    let other = rig.task("other").await;
    let end = rig.task_after("end", &[cause, other]).await;
    rig.moved(cause, TaskMove::Cancel).await;
    assert_eq!(obstacle(rig, end).await, Some(behind(&[cause], TaskState::Cancelled)));
    rig.ok(rig.undepending(end, cause)).await;
    assert_eq!(obstacle(rig, end).await, Some(behind(&[other], TaskState::Queued)));
    rig.finish(other).await;
    assert_eq!(obstacle(rig, end).await, None);
    assert_eq!(rig.get(end).await.task.status(rig.now()), Status::Ready);
    let kinds = rig.kinds().await;
    assert_eq!(kinds[4..6], ["task.cancelled", "task.dependency_removed"]);
}

async fn something_on_its_way_is_an_obstacle_too(rig: &Rig) {
    let first = rig.task("first").await;
    let end = rig.task_after("end", &[first]).await;
    let held = rig.task_after("held", &[first]).await;
    rig.moved(held, TaskMove::Hold).await;
    let run = rig.start(first).await;
    for id in [end, held] {
        assert_eq!(obstacle(rig, id).await, Some(behind(&[first], TaskState::Running)));
    }
    assert!(!obstacle(rig, end).await.unwrap().is_final());
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    assert_eq!(obstacle(rig, end).await, Some(behind(&[first], TaskState::Waiting)));
    rig.moved(held, TaskMove::Cancel).await;
    assert_eq!(obstacle(rig, held).await, None, "nothing is in the way of what nobody wants");
    let kinds = rig.kinds().await;
    assert_eq!(
        kinds[4..],
        [
            "task.held",
            "task.started",
            "run.moved",
            "run.moved",
            "task.asked",
            "task.waiting",
            "task.cancelled"
        ]
    );
}
