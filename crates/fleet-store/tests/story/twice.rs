//! Operations whose answers may be lost: whoever runs one again changes nothing with it, and nor does one that comes
//! late, after others. See `relay::table`.

use fleet_core::event::{AgentEvent, Fact};
use fleet_core::message::{Channel, Receipt};
use fleet_core::run::{Ending, Reason, Run, RunMove, StopKind, StopRequest};
use fleet_store::ops::{AppendRunEvents, CloseRun, Prepared, RequestStop, TakeMessages};
use fleet_store::{Op, StoreError};

use crate::harness::{LEASE, Rig};
use crate::messages::{receipt, say, taking};

story! {
    preparing_twice_is_told_once
    a_late_preparation_changes_nothing
    a_move_that_was_made_is_refused
    a_batch_of_events_is_stored_once
    messages_that_are_taken_late_stay_delivered
    a_late_renewal_takes_nothing_away
    an_end_is_told_once_and_answered_twice
    another_end_is_refused
    a_close_is_told_once_and_answered_twice
    an_end_whose_task_goes_on_meanwhile_leaves_it_alone
}

/// Runs an operation twice; the second time nothing changes. Both answers.
async fn twice<O: Op + Clone>(rig: &Rig, op: O) -> [O::Out; 2] {
    let first = rig.ok(op.clone()).await;
    let before = rig.place().dump().await;
    let second = rig.ok(op).await;
    assert_eq!(rig.place().dump().await, before, "the second one changed something");
    [first, second]
}

async fn claimed(rig: &Rig) -> Run {
    let id = rig.task("one").await;
    rig.start(id).await
}

fn known() -> Prepared {
    let text = |text: &str| Some(text.to_owned());
    Prepared {
        branch: text("fleet/one"),
        base: text("abc"),
        workspace: text("/w/1"),
        keeper: text("{}"),
        model: text("m"),
    }
}

fn stretch(rig: &Rig, run: &Run, (from, to): (i64, i64), batch: i64) -> AppendRunEvents {
    AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from,
        to,
        batch,
        facts: vec![(rig.now(), Fact::Agent(AgentEvent::Text { text: format!("batch {batch}") }))],
        usage: None,
        activity: None,
        session: None,
        now: rig.now(),
        meter: None,
    }
}

async fn preparing_twice_is_told_once(rig: &Rig) {
    let run = claimed(rig).await;
    rig.news().await;
    twice(rig, rig.preparing(&run, known())).await;
    let told = rig.news().await;
    assert_eq!(told.iter().filter(|event| matches!(event.fact, Fact::RunPrepared { .. })).count(), 1);
}

async fn a_late_preparation_changes_nothing(rig: &Rig) {
    let run = claimed(rig).await;
    let first = rig.preparing(&run, Prepared { keeper: known().keeper, ..Prepared::default() });
    rig.ok(first.clone()).await;
    rig.ok(rig.preparing(&run, known())).await;
    let before = rig.place().dump().await;
    rig.ok(first).await;
    assert_eq!(rig.place().dump().await, before);
}

async fn a_move_that_was_made_is_refused(rig: &Rig) {
    let run = claimed(rig).await;
    let start = rig.advancing(&run, RunMove::Start);
    rig.ok(start).await;
    assert!(matches!(rig.refused(start).await, StoreError::IllegalRun { .. }));
    rig.ok(rig.advancing(&run, RunMove::Exit)).await;
    assert!(matches!(rig.refused(start).await, StoreError::IllegalRun { .. }), "it comes late");
}

async fn a_batch_of_events_is_stored_once(rig: &Rig) {
    let run = claimed(rig).await;
    let first = stretch(rig, &run, (0, 10), 1);
    assert!(rig.ok(first.clone()).await);
    rig.ok(stretch(rig, &run, (10, 20), 2)).await;
    let before = rig.place().dump().await;
    assert!(!rig.ok(first).await, "it comes late");
    assert_eq!(rig.place().dump().await, before);
}

async fn messages_that_are_taken_late_stay_delivered(rig: &Rig) {
    let run = claimed(rig).await;
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    say(rig, run.task, "more").await;
    let take = TakeMessages { channel: Channel::Input, ..taking(rig, &run, 0) };
    let [first, second] = twice(rig, take).await;
    assert_eq!((first.len(), &first), (1, &second));
    for left in [Receipt::Delivered, Receipt::Seen] {
        let [first, second] = twice(rig, receipt(rig, &run, left, &[1])).await;
        assert_eq!((first, second), (vec![1], Vec::new()));
        let before = rig.place().dump().await;
        rig.ok(take).await;
        rig.ok(receipt(rig, &run, Receipt::Delivered, &[1])).await;
        assert_eq!(rig.place().dump().await, before, "they come late");
    }
}

async fn a_late_renewal_takes_nothing_away(rig: &Rig) {
    let run = claimed(rig).await;
    rig.pass(LEASE / 4);
    let late = rig.renewing(&run);
    let [first, second] = twice(rig, late).await;
    assert_eq!(first, second);
    rig.pass(LEASE / 4);
    rig.ok(rig.renewing(&run)).await;
    let until = rig.detail(&run).await.run.lease_until;
    rig.ok(late).await;
    assert_eq!(rig.detail(&run).await.run.lease_until, until);
    assert_eq!(until, rig.now().plus(LEASE));
}

async fn an_end_is_told_once_and_answered_twice(rig: &Rig) {
    let endings = [
        Ending::Succeeded,
        Ending::Failed(Reason::AgentError, "no".to_owned()),
        Ending::Asked,
        Ending::Released("shutdown".to_owned()),
        Ending::Cancelled("enough".to_owned()),
    ];
    for ending in endings {
        let id = rig.task("one").await;
        let run = rig.start(id).await;
        rig.work(&run).await;
        let [first, second] = twice(rig, rig.ending(&run, ending)).await;
        assert_eq!((first.id, first.state()), (second.id, second.state()));
        // Nobody takes it again, so that the next one is first.
        let _ = rig.store.call(rig.moving(id, fleet_core::task::TaskMove::Cancel)).await;
    }
}

async fn another_end_is_refused(rig: &Rig) {
    let run = claimed(rig).await;
    rig.work(&run).await;
    rig.end(&run, Ending::Succeeded).await;
    let other = rig.ending(&run, Ending::Failed(Reason::AgentError, "no".to_owned()));
    assert!(matches!(rig.refused(other).await, StoreError::LeaseLost { .. }));
    rig.pass(LEASE / 100);
    let later = rig.ending(&run, Ending::Succeeded);
    assert!(matches!(rig.refused(later).await, StoreError::LeaseLost { .. }));
}

async fn a_close_is_told_once_and_answered_twice(rig: &Rig) {
    let run = claimed(rig).await;
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    let close = CloseRun {
        last: Some(stretch(rig, &run, (0, 10), 1)),
        exited: true,
        end: rig.ending(&run, Ending::Succeeded),
    };
    let [first, second] = twice(rig, close).await;
    assert_eq!((first.id, first.state()), (second.id, second.state()));
}

async fn an_end_whose_task_goes_on_meanwhile_leaves_it_alone(rig: &Rig) {
    let run = claimed(rig).await;
    rig.work(&run).await;
    let end = rig.ending(&run, Ending::Released("shutdown".to_owned()));
    rig.ok(end.clone()).await;
    let next = rig.start(run.task).await;
    let stop = StopRequest { kind: StopKind::Cancel, why: "enough".to_owned() };
    rig.ok(RequestStop { run: next.id, stop, now: rig.now() }).await;
    let before = rig.place().dump().await;
    rig.ok(end).await;
    assert_eq!(rig.place().dump().await, before);
}
