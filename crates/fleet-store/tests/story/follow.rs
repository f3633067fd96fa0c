//! Tasks that somebody waits for, seen in one look.

use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Reason};
use fleet_core::task::TaskState;
use fleet_store::ops::{FollowTasks, FollowedTask};

use crate::harness::Rig;

story! {
    each_comes_with_its_newest_run_in_the_order_of_the_question
    what_is_behind_a_failed_one_says_so
}

async fn look(rig: &Rig, ids: &[TaskId]) -> Vec<FollowedTask> {
    rig.ok(FollowTasks { ids: ids.to_vec() }).await
}

async fn each_comes_with_its_newest_run_in_the_order_of_the_question(rig: &Rig) {
    let ids = rig.tasks(4).await;
    let [first, second, third, other] = ids[..] else { panic!("four tasks") };
    let run = rig.start(first).await;
    rig.end(&run, Ending::Released("again".to_owned())).await;
    let again = rig.start(first).await;
    let seen = look(rig, &[third, first, second]).await;
    let order: Vec<TaskId> = seen.iter().map(|one| one.task.id).collect();
    assert_eq!(order, [third, first, second], "and not {other}");
    let runs: Vec<_> = seen.iter().map(|one| one.run.as_ref().map(|run| run.id)).collect();
    assert_eq!(runs, [None, Some(again.id), None]);
    assert_eq!(seen[1].task.state(), TaskState::Running);
    rig.ok(rig.deleting(third)).await;
    assert_eq!(look(rig, &[third, second]).await.len(), 1, "what is gone is left out");
    assert!(look(rig, &[]).await.is_empty());
}

async fn what_is_behind_a_failed_one_says_so(rig: &Rig) {
    let cause = rig.task("cause").await;
    let behind = rig.task_after("behind", &[cause]).await;
    assert!(!look(rig, &[behind]).await[0].obstacle.as_ref().expect("it waits").is_final());
    let run = rig.start(cause).await;
    rig.end(&run, Ending::Failed(Reason::Auth, "credentials refused".to_owned())).await;
    let seen = look(rig, &[behind, cause]).await;
    assert!(seen[0].obstacle.as_ref().expect("it waits").is_final());
    assert!(seen[1].obstacle.is_none());
}
