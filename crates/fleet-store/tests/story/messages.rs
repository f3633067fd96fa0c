//! What is said to agents after their tasks were written: kept, given to one run after the other until an agent has it.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::message::{
    Channel, MAX_WAITING, Message, MessageKind, MessageRefusal, MessageState, Receipt, Reception,
};
use fleet_core::run::{Ending, Reason, Run, StopKind, StopRequest};
use fleet_core::task::{TaskMove, TaskState};
use fleet_core::time::Millis;
use fleet_store::StoreError;
use fleet_store::ops::{RecordReceipts, RequestStop, SendMessage, SentMessage, TakeMessages, TaskMessages};

use crate::harness::{LEASE, Rig, together};

story! {
    a_message_is_kept_until_a_run_takes_it
    what_was_not_seen_goes_to_the_next_run
    a_run_gets_each_message_once
    a_live_run_learns_of_messages_when_it_renews
    some_tasks_take_no_message
    only_the_run_that_holds_the_lease_leaves_receipts
    a_deleted_task_takes_its_messages_along
    messages_that_come_at_once_have_numbers_of_their_own
    what_is_said_to_a_run_that_ends_is_told_to_the_next
    a_message_and_the_end_of_a_run_that_meet_agree
    what_was_delivered_in_vain_waits_again
    nobody_is_told_what_has_expired
    a_follow_up_waits_for_the_next_run
}

pub(crate) async fn say(rig: &Rig, task: TaskId, text: &str) -> SentMessage {
    rig.ok(rig.saying(task, text)).await
}

pub(crate) fn taking(rig: &Rig, run: &Run, after: i64) -> TakeMessages {
    TakeMessages { run: run.id, attempt: run.attempt, channel: Channel::Start, after, now: rig.now() }
}

pub(crate) fn receipt(rig: &Rig, run: &Run, receipt: Receipt, seqs: &[i64]) -> RecordReceipts {
    RecordReceipts { run: run.id, attempt: run.attempt, receipt, seqs: seqs.to_vec(), now: rig.now() }
}

pub(crate) fn seen(rig: &Rig, run: &Run, seq: i64) -> RecordReceipts {
    receipt(rig, run, Receipt::Seen, &[seq])
}

pub(crate) fn texts(messages: &[Message]) -> Vec<(i64, &str)> {
    messages.iter().map(|message| (message.id.seq, message.text.as_str())).collect()
}

async fn kept(rig: &Rig, task: TaskId) -> Vec<Message> {
    rig.ok(TaskMessages { task, limit: 100 }).await
}

async fn a_message_is_kept_until_a_run_takes_it(rig: &Rig) {
    let id = rig.task("one").await;
    rig.news().await;
    let first = say(rig, id, "first\nof all").await;
    assert_eq!((first.reception, first.run.is_none(), first.message.id.seq), (Reception::Kept, true, 1));
    assert_eq!((first.message.from.as_str(), first.message.receipts.stored), ("ada", rig.now()));
    let long = format!("second \u{1F600} {{list 1}} $1 {}", "漢".repeat(3_000));
    assert_eq!(say(rig, id, &long).await.message.id.seq, 2);
    let told = rig.facts().await;
    let by = || "ada".to_owned();
    assert_eq!(told[0], Fact::TaskPrompted { number: 1, text: "first\nof all".to_owned(), by: by() });
    let Fact::TaskPrompted { number: 2, text, .. } = &told[1] else { panic!("{told:?}") };
    assert!(
        text.starts_with("second") && text.chars().count() == 2_000,
        "shortened where everybody reads it"
    );
    assert_eq!(rig.get(id).await.task.state(), TaskState::Queued);

    let run = rig.start(id).await;
    rig.news().await;
    let taken = rig.ok(taking(rig, &run, 0)).await;
    assert_eq!(texts(&taken), [(1, "first\nof all"), (2, long.as_str())], "whole, in order");
    assert!(rig.news().await.is_empty(), "nothing was said to the agent yet");
    rig.pass(Duration::from_secs(1));
    assert_eq!(rig.ok(receipt(rig, &run, Receipt::Delivered, &[1, 2])).await, [1, 2]);
    assert!(rig.news().await.is_empty(), "the agent may not have read it");
    rig.pass(Duration::from_secs(1));
    assert_eq!(rig.ok(seen(rig, &run, 1)).await, [1]);
    assert!(rig.ok(seen(rig, &run, 1)).await.is_empty(), "answered, but lost on the way");
    assert!(rig.ok(receipt(rig, &run, Receipt::Delivered, &[1])).await.is_empty(), "late");
    assert_eq!(rig.facts().await, [Fact::RunPrompted { number: 1, text: "first\nof all".to_owned() }]);
    let all = kept(rig, id).await;
    let second = Some(Millis(rig.now().0 - 1_000));
    let ends: Vec<_> = all.iter().map(|it| (it.taken_by, it.receipts.delivered, it.receipts.seen)).collect();
    assert_eq!(ends, [(Some(run.id), second, Some(rig.now())), (Some(run.id), second, None)]);
    assert_eq!(all[1].receipts.state(), MessageState::Delivered);
    assert_eq!(texts(&rig.ok(TaskMessages { task: id, limit: 1 }).await), [(2, long.as_str())]);
}

async fn what_was_not_seen_goes_to_the_next_run(rig: &Rig) {
    let id = rig.task("one").await;
    for text in ["a", "b", "c"] {
        say(rig, id, text).await;
    }
    let lost = rig.start(id).await;
    assert_eq!(rig.ok(taking(rig, &lost, 0)).await.len(), 3);
    rig.ok(seen(rig, &lost, 1)).await;
    rig.pass(LEASE + Duration::from_secs(1));
    rig.ok(rig.expiring()).await;
    rig.pass(Duration::from_mins(1));
    let failed = rig.start(id).await;
    assert_eq!(texts(&rig.ok(taking(rig, &failed, 0)).await), [(2, "b"), (3, "c")]);
    rig.ok(seen(rig, &failed, 2)).await;
    rig.end(&failed, Ending::Failed(Reason::Auth, "no".to_owned())).await;
    rig.moved(id, TaskMove::Retry).await;
    let good = rig.start(id).await;
    assert_eq!(texts(&rig.ok(taking(rig, &good, 0)).await), [(3, "c")]);
    rig.ok(seen(rig, &good, 3)).await;
    rig.succeed(&good).await;
    let takers: Vec<_> = kept(rig, id).await.iter().map(|message| message.taken_by.unwrap()).collect();
    assert_eq!(takers, [lost.id, failed.id, good.id]);
}

async fn a_run_gets_each_message_once(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    assert!(rig.ok(taking(rig, &run, 0)).await.is_empty());
    say(rig, id, "a").await;
    assert_eq!(texts(&rig.ok(taking(rig, &run, 0)).await), [(1, "a")]);
    assert_eq!(texts(&rig.ok(taking(rig, &run, 0)).await), [(1, "a")], "the answer was lost on the way");
    assert!(rig.ok(taking(rig, &run, 1)).await.is_empty());
    say(rig, id, "b").await;
    assert_eq!(texts(&rig.ok(taking(rig, &run, 1)).await), [(2, "b")]);
    rig.ok(seen(rig, &run, 2)).await;
    assert_eq!(texts(&rig.ok(taking(rig, &run, 0)).await), [(1, "a")], "the agent has the other");
    rig.ok(seen(rig, &run, 1)).await;
    assert!(rig.ok(taking(rig, &run, 0)).await.is_empty());
}

async fn a_live_run_learns_of_messages_when_it_renews(rig: &Rig) {
    let id = rig.task("one").await;
    let other = rig.task("two").await;
    say(rig, other, "not for the first").await;
    let run = rig.start(id).await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 0);
    let told = say(rig, id, "a").await;
    assert_eq!(told.reception, Reception::Live);
    assert_eq!(told.run.map(|run| run.id), Some(run.id));
    assert_eq!(rig.news().await.last().unwrap().subject.run, Some(run.id), "who watches the run sees it");
    say(rig, id, "b").await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 2);
    rig.ok(taking(rig, &run, 0)).await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 0, "it has them");
    rig.ok(seen(rig, &run, 1)).await;
    rig.end(&run, Ending::Released("stop".to_owned())).await;
    let next = rig.start(id).await;
    assert_eq!(rig.ok(rig.renewing(&next)).await.messages, 1, "what the one before left");
}

async fn some_tasks_take_no_message(rig: &Rig) {
    let refused = async |id: TaskId, why: MessageRefusal| {
        let error = rig.refused(rig.saying(id, "x")).await;
        let told =
            matches!(error, StoreError::MessageRefused { task, refusal } if task == id && refusal == why);
        assert!(told, "{error}");
    };
    let stopping = rig.task("stopping").await;
    let run = rig.start(stopping).await;
    let stop =
        |kind| RequestStop { run: run.id, stop: StopRequest { kind, why: "why".to_owned() }, now: rig.now() };
    rig.ok(stop(StopKind::Release)).await;
    assert_eq!(say(rig, stopping, "for the next attempt").await.reception, Reception::Live);
    rig.ok(stop(StopKind::Cancel)).await;
    refused(stopping, MessageRefusal::IsStopping).await;
    let busy = rig.task("busy").await;
    rig.moved(busy, TaskMove::Hold).await;
    for _ in 0..MAX_WAITING {
        assert_eq!(say(rig, busy, "x").await.reception, Reception::Held);
    }
    refused(busy, MessageRefusal::TooMany).await;
    let unknown: TaskId = rig.id();
    let error = rig.refused(rig.saying(unknown, "x")).await;
    assert!(matches!(error, StoreError::TaskNotFound(_)), "{error}");
}

async fn only_the_run_that_holds_the_lease_leaves_receipts(rig: &Rig) {
    let id = rig.task("one").await;
    say(rig, id, "a").await;
    let old = rig.start(id).await;
    rig.ok(taking(rig, &old, 0)).await;
    rig.end(&old, Ending::Released("stop".to_owned())).await;
    let lost = |error: &StoreError| matches!(error, StoreError::LeaseLost { run } if *run == old.id);
    assert!(lost(&rig.refused(taking(rig, &old, 0)).await));
    assert!(lost(&rig.refused(seen(rig, &old, 1)).await), "late: the next run passes it on");
    let new = rig.start(id).await;
    let error = rig.refused(seen(rig, &new, 1)).await;
    assert!(matches!(error, StoreError::MessageNotTaken { run, seq: 1 } if run == new.id), "{error}");
    rig.ok(taking(rig, &new, 0)).await;
    let error = rig.refused(seen(rig, &new, 2)).await;
    assert!(matches!(error, StoreError::MessageNotTaken { seq: 2, .. }), "{error}");
    assert_eq!(rig.ok(seen(rig, &new, 1)).await, [1]);
    let unknown = Run { id: rig.id(), ..new };
    assert!(matches!(rig.refused(taking(rig, &unknown, 0)).await, StoreError::RunNotFound(_)));
}

async fn a_deleted_task_takes_its_messages_along(rig: &Rig) {
    let id = rig.task("one").await;
    say(rig, id, "a").await;
    let other = rig.task("two").await;
    say(rig, other, "b").await;
    rig.ok(rig.deleting(id)).await;
    assert!(kept(rig, id).await.is_empty());
    assert_eq!(texts(&kept(rig, other).await), [(1, "b")]);
    assert_eq!(rig.place().count("SELECT count(*) FROM messages").await, 1);
}

async fn messages_that_come_at_once_have_numbers_of_their_own(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    let elsewhere = rig.elsewhere().await;
    let all = (0..12).map(|n| {
        let rig = if n % 2 == 0 { rig.clone() } else { elsewhere.clone() };
        async move { say(&rig, id, "x").await.message.id.seq }
    });
    let mut numbers = together(all.collect::<Vec<_>>()).await;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    assert_eq!(rig.ok(taking(rig, &run, 0)).await.len(), 12);
}

async fn what_is_said_to_a_run_that_ends_is_told_to_the_next(rig: &Rig) {
    let id = rig.task("one").await;
    let later = rig.task_after("later", &[id]).await;
    let run = rig.start(id).await;
    rig.work(&run).await;
    say(rig, id, "wait").await;
    rig.news().await;
    let task = rig.end(&run, Ending::Succeeded).await;
    assert_eq!((task.state(), task.history.failures), (TaskState::Queued, 0), "it is not done yet");
    let told = Fact::TaskRequeued {
        reason: None,
        detail: task.history.remark.unwrap(),
        failures: 0,
        not_before: None,
    };
    assert_eq!(rig.facts().await, [told]);
    assert_eq!(rig.get(later).await.task.open_deps, 1, "nobody builds on it yet");
    // This one passes nothing on: it is not followed by another for ever.
    let deaf = rig.start(id).await;
    assert_eq!(rig.succeed(&deaf).await.state(), TaskState::Done);
    assert_eq!(kept(rig, id).await[0].receipts.seen, None, "the next one that somebody wants is told");
    rig.finish(later).await;

    let heard = rig.task("two").await;
    let run = rig.start(heard).await;
    say(rig, heard, "a").await;
    rig.ok(taking(rig, &run, 0)).await;
    rig.ok(seen(rig, &run, 1)).await;
    assert_eq!(rig.succeed(&run).await.state(), TaskState::Done);
}

/// Whoever comes first: nothing is said to a task that is done and stays done.
async fn a_message_and_the_end_of_a_run_that_meet_agree(rig: &Rig) {
    let elsewhere = rig.elsewhere().await;
    for _ in 0..10 {
        let id = rig.task("one").await;
        let run = rig.start(id).await;
        rig.work(&run).await;
        let (end, message) = (rig.ending(&run, Ending::Succeeded), rig.saying(id, "more"));
        let (here, there) = (rig.clone(), elsewhere.clone());
        let ended = tokio::spawn(async move { here.ok(end).await.state() });
        let told = tokio::spawn(async move { there.ok(message).await.reception });
        let found = (ended.await.unwrap(), told.await.unwrap());
        let agreed = [(TaskState::Queued, Reception::Live), (TaskState::Done, Reception::Reopened)];
        assert!(agreed.contains(&found), "{found:?}");
        let next = rig.start(id).await;
        assert_eq!(texts(&rig.ok(taking(rig, &next, 0)).await), [(1, "more")]);
        rig.ok(seen(rig, &next, 1)).await;
        assert_eq!(rig.succeed(&next).await.state(), TaskState::Done);
    }
}

async fn what_was_delivered_in_vain_waits_again(rig: &Rig) {
    let id = rig.task("one").await;
    say(rig, id, "a").await;
    let killed = rig.start(id).await;
    rig.ok(taking(rig, &killed, 0)).await;
    rig.ok(receipt(rig, &killed, Receipt::Delivered, &[1])).await;
    rig.end(&killed, Ending::Released("stop".to_owned())).await;
    let next = rig.start(id).await;
    assert_eq!(rig.ok(rig.renewing(&next)).await.messages, 1);
    let taken = rig.ok(taking(rig, &next, 0)).await;
    assert_eq!((taken[0].receipts.state(), taken[0].taken_by), (MessageState::Waiting, Some(next.id)));
    // Its keeper could not tell before: an agent that shows it was given it.
    rig.ok(seen(rig, &next, 1)).await;
    let receipts = kept(rig, id).await[0].receipts;
    assert_eq!((receipts.delivered, receipts.seen), (Some(rig.now()), Some(rig.now())));
}

async fn nobody_is_told_what_has_expired(rig: &Rig) {
    let id = rig.task("one").await;
    let end = rig.now().plus(Duration::from_secs(10));
    let passing = SendMessage { expires_at: Some(end), ..rig.saying(id, "in a moment") };
    rig.ok(passing).await;
    let run = rig.start(id).await;
    rig.ok(SendMessage { expires_at: Some(end), ..rig.saying(id, "meanwhile") }).await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 2);
    assert!(!kept(rig, id).await[0].is_expired(rig.now()));
    rig.pass(Duration::from_secs(10));
    assert!(kept(rig, id).await[0].is_expired(rig.now()));
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 0);
    assert!(rig.ok(taking(rig, &run, 0)).await.is_empty());
    for _ in 0..MAX_WAITING {
        rig.ok(SendMessage { expires_at: Some(rig.now()), ..rig.saying(id, "too late") }).await;
    }
    assert_eq!(rig.succeed(&run).await.state(), TaskState::Done, "nobody has to be told");
}

async fn a_follow_up_waits_for_the_next_run(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    let sent = rig.ok(SendMessage { kind: MessageKind::FollowUp, ..rig.saying(id, "then this") }).await;
    assert_eq!((sent.reception, sent.run.map(|run| run.id)), (Reception::Kept, Some(run.id)));
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 0, "its agent is not interrupted");
    assert!(rig.ok(taking(rig, &run, 0)).await.is_empty(), "nor is it told by a run that only begins");
    say(rig, id, "now this").await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.messages, 1);
    let live = TakeMessages { channel: Channel::Input, ..taking(rig, &run, 0) };
    assert_eq!(texts(&rig.ok(live).await), [(2, "now this")]);
    rig.ok(seen(rig, &run, 2)).await;
    assert_eq!(rig.succeed(&run).await.state(), TaskState::Queued, "there is more to do");
    let next = rig.start(id).await;
    assert_eq!(texts(&rig.ok(taking(rig, &next, 0)).await), [(1, "then this")]);
    rig.ok(seen(rig, &next, 1)).await;
    assert_eq!(rig.succeed(&next).await.state(), TaskState::Done);
    let queued = rig.task("two").await;
    rig.ok(SendMessage { kind: MessageKind::FollowUp, ..rig.saying(queued, "and this") }).await;
    let run = rig.start(queued).await;
    assert_eq!(texts(&rig.ok(taking(rig, &run, 0)).await), [(1, "and this")]);
}
