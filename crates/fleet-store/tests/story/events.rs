//! Events: numbered from one without gaps, cause before effect, none missed and none doubled by who follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use fleet_core::event::{Event, Fact};
use fleet_core::id::TaskId;
use fleet_core::run::{Ending, RunMove};
use fleet_core::task::TaskMove;
use fleet_store::ops::{AppendRunEvents, EventsAfter, NewestEvents, PauseAccount, RunEventsOf, TaskEvents};

use crate::harness::{Engine, Rig, together};

story! {
    a_tail_begins_after_what_was_seen
    a_tail_of_one_project_leaves_the_others_out
    the_newest_events_come_oldest_first
    the_history_of_a_task_is_its_newest_events
    the_history_of_a_task_or_run_needs_no_numbers
    followers_see_every_event_of_many_writers_once_and_in_order
}

async fn a_tail_begins_after_what_was_seen(rig: &Rig) {
    assert!(rig.events_since(0).await.is_empty());
    rig.tasks(9).await;
    let all = rig.events_since(0).await;
    assert_eq!(all.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    let tail = async |since, limit| rig.ok(EventsAfter { since, project: None, limit }).await;
    assert_eq!(tail(0, 3).await, all[..3]);
    assert_eq!(tail(3, 3).await, all[3..6]);
    assert_eq!(tail(9, 100).await, all[9..]);
    assert_eq!(tail(10, 100).await, []);
    assert_eq!(tail(1_000, 100).await, []);
    assert_eq!(tail(0, 0).await, []);
    rig.task("later").await;
    assert_eq!(tail(10, 100).await.len(), 1);
}

/// Something that belongs to no project.
fn pausing(rig: &Rig) -> PauseAccount {
    let (account, why) = ("codex".to_owned(), "quota".to_owned());
    PauseAccount { account, agent: None, until: rig.now(), why, now: rig.now() }
}

async fn a_tail_of_one_project_leaves_the_others_out(rig: &Rig) {
    let (one, two) = (rig.project("/one/.git").await, rig.project("/two/.git").await);
    rig.add(vec![rig.draft_in(one, "a"), rig.draft_in(two, "b"), rig.draft_in(one, "c")]).await;
    rig.ok(pausing(rig)).await;
    let seqs = async |since, project, limit| -> Vec<i64> {
        rig.ok(EventsAfter { since, project: Some(project), limit })
            .await
            .iter()
            .map(|event| event.seq)
            .collect()
    };
    assert_eq!(seqs(0, one, 100).await, [1, 3, 5, 6], "with what concerns all projects");
    assert_eq!(seqs(0, two, 100).await, [2, 4, 6]);
    assert_eq!(seqs(3, one, 1).await, [5]);
    assert_eq!(seqs(6, two, 100).await, [0; 0]);
}

async fn the_newest_events_come_oldest_first(rig: &Rig) {
    let (one, two) = (rig.project("/one/.git").await, rig.project("/two/.git").await);
    rig.add(vec![rig.draft_in(one, "a"), rig.draft_in(two, "b"), rig.draft_in(one, "c")]).await;
    rig.ok(pausing(rig)).await;
    let seqs = async |project, limit| -> Vec<i64> {
        rig.ok(NewestEvents { project, limit }).await.iter().map(|event| event.seq).collect()
    };
    assert_eq!(seqs(None, 2).await, [5, 6]);
    assert_eq!(seqs(None, 100).await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(seqs(Some(one), 2).await, [5, 6]);
    assert_eq!(seqs(Some(two), 100).await, [2, 4, 6], "with what concerns all projects");
}

async fn the_history_of_a_task_is_its_newest_events(rig: &Rig) {
    let (id, other) = (rig.task("one").await, rig.task("two").await);
    for event in [TaskMove::Hold, TaskMove::Release, TaskMove::Cancel, TaskMove::Retry] {
        rig.moved(id, event).await;
        rig.moved(other, TaskMove::Hold).await;
        rig.moved(other, TaskMove::Release).await;
    }
    let kinds = async |limit| -> Vec<String> {
        let events = rig.ok(TaskEvents { task: id, limit }).await;
        assert!(events.is_sorted_by_key(|event| event.seq), "oldest first");
        events.iter().map(|event| event.fact.kind()).collect()
    };
    let all = ["task.added", "task.held", "task.released", "task.cancelled", "task.retried"];
    assert_eq!(kinds(100).await, all);
    assert_eq!(kinds(2).await, all[3..]);
    assert!(rig.ok(TaskEvents { task: rig.id(), limit: 9 }).await.is_empty());
}

/// On PostgreSQL the events of all would have to be numbered for it, however many there are.
async fn the_history_of_a_task_or_run_needs_no_numbers(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.store.number_events().await.unwrap();
    rig.moved(rig.task("two").await, TaskMove::Hold).await;
    let note = |text: &str| Fact::RunNote { text: text.to_owned() };
    let append = AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from: 0,
        to: 5,
        batch: 1,
        facts: vec![(rig.now(), note("a")), (rig.now(), note("b"))],
        usage: None,
        activity: None,
        session: None,
        now: rig.now(),
        meter: None,
    };
    rig.ok(append).await;
    let history = rig.ok(TaskEvents { task: id, limit: 3 }).await;
    assert!(matches!(history[0].fact, Fact::TaskStarted { .. }), "{:?}", history[0]);
    assert_eq!([&history[1].fact, &history[2].fact], [&note("a"), &note("b")]);
    assert!(history[0].seq > 0, "it had a number before");
    let notes = rig.ok(RunEventsOf { run: run.id, kinds: &["run.note"], limit: 1 }).await;
    assert_eq!(notes.iter().map(|event| &event.fact).collect::<Vec<_>>(), [&note("b")]);
    if rig.place().engine() == Engine::Postgres {
        assert_eq!(rig.place().count("SELECT count(*) FROM events WHERE seq IS NULL").await, 4);
        assert_eq!(notes[0].seq, 0);
    }
    rig.store.number_events().await.unwrap();
    let numbered = rig.ok(TaskEvents { task: id, limit: 3 }).await;
    assert!(numbered.iter().all(|event| event.seq > 0) && numbered.is_sorted_by_key(|event| event.seq));
    assert!(numbered.iter().map(|event| &event.fact).eq(history.iter().map(|event| &event.fact)));
}

/// Moves tasks of its own, and one that all writers fight over.
async fn write(rig: Rig, disputed: TaskId) {
    let own = rig.task("own").await;
    // Others are at the same tasks: often one is refused, and what is rolled back must leave no gap.
    for event in [TaskMove::Hold, TaskMove::Release, TaskMove::Cancel, TaskMove::Retry].repeat(3) {
        for id in [own, disputed] {
            let _ = rig.store.call(rig.moving(id, event)).await;
        }
    }
    for claimed in rig.claim(2).await {
        let _ = rig.store.call(rig.advancing(&claimed.run, RunMove::Start)).await;
        let _ = rig.store.call(rig.advancing(&claimed.run, RunMove::Exit)).await;
        let _ = rig.store.call(rig.ending(&claimed.run, Ending::Succeeded)).await;
    }
}

/// Follows until `end` is known and reached, with short pages.
async fn follow(rig: Rig, end: Arc<AtomicI64>) -> Vec<Event> {
    let mut seen: Vec<Event> = Vec::new();
    loop {
        let since = seen.last().map_or(0, |event| event.seq);
        if end.load(Ordering::SeqCst) == since {
            return seen;
        }
        seen.extend(rig.ok(EventsAfter { since, project: None, limit: 17 }).await);
        tokio::task::yield_now().await;
    }
}

async fn followers_see_every_event_of_many_writers_once_and_in_order(rig: &Rig) {
    let disputed = rig.task("disputed").await;
    let (left, right) = (rig.elsewhere().await, rig.elsewhere().await);
    let end = Arc::new(AtomicI64::new(-1));
    let followers: Vec<_> = [rig, &left, &right, &left]
        .map(|rig| tokio::spawn(follow(rig.clone(), Arc::clone(&end))))
        .into_iter()
        .collect();
    let writers = [rig, &left, &right].into_iter().cycle().take(16);
    together(writers.map(|rig| write(rig.clone(), disputed))).await;
    let all = rig.events_since(0).await;
    let last = all.last().unwrap().seq;
    assert_eq!(usize::try_from(last).unwrap(), all.len());
    assert!(all.iter().filter(|event| matches!(event.fact, Fact::TaskAdded { .. })).count() == 17);
    end.store(last, Ordering::SeqCst);
    for follower in followers {
        assert_eq!(follower.await.unwrap(), all, "every follower sees the same, whole and in order");
    }
}
