//! Messages to tasks that have ended: they are queued again.

use fleet_core::message::Reception;
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::{TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::RecordReceipts;

use crate::harness::Rig;
use crate::messages::{say, seen, taking, texts};

story! {
    what_is_over_is_queued_again_with_a_clean_record
    those_who_waited_for_a_task_wait_again
    a_branch_that_another_task_has_is_not_taken_back
    a_message_answers_the_question_of_an_agent
}

async fn what_is_over_is_queued_again_with_a_clean_record(rig: &Rig) {
    let done = rig.task("done").await;
    rig.finish(done).await;
    let failed = rig.task("failed").await;
    let run = rig.start(failed).await;
    rig.end(&run, Ending::Failed(Reason::Auth, "no".to_owned())).await;
    let cancelled = rig.task("cancelled").await;
    rig.moved(cancelled, TaskMove::Cancel).await;
    rig.news().await;
    for id in [done, failed, cancelled] {
        let told = say(rig, id, "go on").await;
        assert_eq!((told.reception, told.run.is_none()), (Reception::Reopened, true));
        assert_eq!((told.task.state(), &told.task), (TaskState::Queued, &rig.get(id).await.task));
        let history = told.task.history;
        assert_eq!((history.failures, history.reason, history.remark), (0, None, None));
        assert_eq!(rig.kinds().await, ["task.prompted", "task.reopened"]);
    }
    let again = rig.start(done).await;
    assert_eq!((again.attempt, texts(&rig.ok(taking(rig, &again, 0)).await)), (2, vec![(1, "go on")]));
}

async fn those_who_waited_for_a_task_wait_again(rig: &Rig) {
    let first = rig.task("first").await;
    let [ready, running, late] = [
        rig.task_after("ready", &[first]).await,
        rig.task_after("running", &[first]).await,
        rig.task_after("late", &[first]).await,
    ];
    rig.moved(ready, TaskMove::Hold).await;
    rig.finish(first).await;
    let run = rig.start(running).await;
    rig.moved(ready, TaskMove::Release).await;
    say(rig, first, "one more thing").await;
    for id in [ready, running, late] {
        assert_eq!(rig.get(id).await.task.open_deps, 1);
    }
    let again = rig.claim(9).await;
    assert_eq!(again.iter().map(|claimed| claimed.task.id).collect::<Vec<_>>(), [first], "the others wait");
    rig.succeed(&run).await;
    assert_eq!(rig.state(running).await, TaskState::Done, "what had begun goes on");
    let newer = rig.task_after("newer", &[first]).await;
    rig.ok(seen_after_taking(rig, &again[0].run).await).await;
    rig.succeed(&again[0].run).await;
    let claimed = rig.claim(9).await;
    assert_eq!(claimed.iter().map(|claimed| claimed.task.id).collect::<Vec<_>>(), [ready, late, newer]);
}

async fn seen_after_taking(rig: &Rig, run: &Run) -> RecordReceipts {
    let taken = rig.ok(taking(rig, run, 0)).await;
    seen(rig, run, taken.last().unwrap().id.seq)
}

async fn a_branch_that_another_task_has_is_not_taken_back(rig: &Rig) {
    let mut draft = rig.draft("first").await;
    draft.spec.branch = Some("work".parse().unwrap());
    let first = rig.add_one(draft).await;
    rig.finish(first).await;
    let mut draft = rig.draft("second").await;
    draft.spec.branch = Some("work".parse().unwrap());
    let second = rig.add_one(draft).await;
    let error = rig.refused(rig.saying(first, "go on")).await;
    assert!(matches!(error, StoreError::BranchTaken { task, .. } if task == second), "{error}");
}

async fn a_message_answers_the_question_of_an_agent(rig: &Rig) {
    let asking = rig.task("asking").await;
    let run = rig.start(asking).await;
    rig.work(&run).await;
    rig.end(&run, Ending::Asked).await;
    let sent = say(rig, asking, "the second one").await;
    assert_eq!((sent.reception, sent.task.state()), (Reception::Reopened, TaskState::Queued));
    let next = rig.start(asking).await;
    assert_eq!(rig.ok(taking(rig, &next, 0)).await.len(), 1, "its next run gets the answer");
}
