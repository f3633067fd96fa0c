//! Many messages: taken in batches, listed, taken back.

use fleet_core::event::Fact;
use fleet_core::message::MessageId;
use fleet_core::run::Ending;
use fleet_store::ops::{CancelMessage, ListMessages, MessageText, MessagesOf, TaskMessages};

use super::messages::{say, seen, taking, texts};
use crate::harness::Rig;

story! {
    many_messages_come_in_batches
    a_message_that_waits_can_be_taken_back
    messages_are_listed_by_task_and_by_project
}

async fn many_messages_come_in_batches(rig: &Rig) {
    let id = rig.task("one").await;
    for number in 1..=130 {
        say(rig, id, &format!("number {number}")).await;
    }
    let huge = "漢".repeat(5 << 20);
    for _ in 0..2 {
        say(rig, id, &huge).await;
    }
    say(rig, id, "last").await;
    let run = rig.start(id).await;
    let (mut after, mut sizes) = (0, Vec::new());
    loop {
        let batch = rig.ok(taking(rig, &run, after)).await;
        let Some(last) = batch.last() else { break };
        assert!(
            batch.iter().map(|message| message.id.seq).eq(after + 1..=last.id.seq),
            "in order, each once"
        );
        after = last.id.seq;
        sizes.push(batch.len());
    }
    assert_eq!((sizes, after), (vec![100, 31, 1, 1], 133), "one that is too large is a batch of its own");
    let cut = rig.ok(TaskMessages { task: id, limit: 2 }).await;
    assert_eq!(cut[0].text.as_str().chars().count(), TaskMessages::LONGEST_TEXT);
    let whole = rig.ok(MessageText { id: cut[0].id }).await;
    assert!(whole.as_deref() == Some(huge.as_str()));
}

async fn a_message_that_waits_can_be_taken_back(rig: &Rig) {
    let id = rig.task("one").await;
    let first = say(rig, id, "first").await.message.id;
    let second = say(rig, id, "second").await.message.id;
    rig.news().await;
    let cancel = |id| CancelMessage { id, now: rig.now() };
    assert!(rig.ok(cancel(first)).await.is_some_and(|(message, done)| done && message.is_expired(rig.now())));
    assert_eq!(rig.facts().await, [Fact::TaskPromptCancelled { number: 1 }]);
    assert!(rig.ok(cancel(first)).await.is_some_and(|(_, done)| !done), "once");
    let run = rig.start(id).await;
    assert_eq!(texts(&rig.ok(taking(rig, &run, 0)).await), [(2, "second")]);
    assert!(rig.ok(cancel(second)).await.is_some_and(|(_, done)| !done), "it is on its way");
    rig.end(&run, Ending::Released("stop".to_owned())).await;
    assert!(rig.ok(cancel(second)).await.is_some_and(|(_, done)| done), "that run is over");
    let unknown = MessageId { task: id, seq: 9 };
    assert!(rig.ok(cancel(unknown)).await.is_none());
    assert_eq!(say(rig, id, "third").await.message.id.seq, 3, "numbers are not used twice");
}

async fn messages_are_listed_by_task_and_by_project(rig: &Rig) {
    let (one, two) = (rig.task("one").await, rig.task("two").await);
    say(rig, one, "a").await;
    say(rig, two, &format!("{}b", " ".repeat(5_000))).await;
    let told = say(rig, one, "c").await;
    let list = |of| ListMessages { of, limit: 10, now: rig.now() };
    let of_one = rig.ok(list(MessagesOf::Tasks(vec![one]))).await;
    assert_eq!(texts(&of_one), [(1, "a"), (2, "c")]);
    let both = rig.ok(list(MessagesOf::Tasks(vec![one, two]))).await;
    assert_eq!(both.len(), 3, "one of which begins with blanks only");
    let project = told.task.project;
    assert_eq!(rig.ok(list(MessagesOf::Unseen(project))).await.len(), 3);
    let run = rig.start(one).await;
    rig.ok(taking(rig, &run, 0)).await;
    rig.ok(seen(rig, &run, 1)).await;
    assert_eq!(rig.ok(list(MessagesOf::Unseen(project))).await.len(), 2);
    let newest = ListMessages { limit: 1, ..list(MessagesOf::Tasks(vec![one])) };
    assert_eq!(texts(&rig.ok(newest).await), [(2, "c")]);
}
