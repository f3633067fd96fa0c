//! What agents say while they work: stored in batches, each exactly once.

use std::time::Duration;

use fleet_core::event::{AgentEvent, Fact, Stream};
use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Reason, Run, RunMove, RunState, Totals};
use fleet_core::time::Millis;
use fleet_store::StoreError;
use fleet_store::ops::{AppendRunEvents, CloseRun, RunEventsOf, TaskEvents};

use crate::harness::{Rig, START, together};

story! {
    a_batch_is_kept_in_order_with_what_it_says_of_the_run
    every_kind_of_fact_comes_back_as_it_was
    a_stretch_that_is_read_again_changes_nothing
    what_comes_from_no_output_is_stored_once_as_well
    a_gap_is_refused
    a_lost_lease_appends_nothing
    two_who_append_the_same_stretch_store_it_once
    the_newest_events_of_a_task_are_those_of_its_newest_run
    the_newest_of_some_kinds_are_found_among_all_others
    a_large_batch_keeps_its_order
    the_last_words_and_the_end_come_together_or_not_at_all
}

fn said(text: &str) -> Fact {
    Fact::Agent(AgentEvent::Text { text: text.to_owned() })
}

/// Nothing but where it begins and ends.
fn stretch(run: &Run, from: i64, to: i64) -> AppendRunEvents {
    AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from,
        to,
        batch: 1,
        facts: Vec::new(),
        usage: None,
        activity: None,
        session: None,
        now: START,
        meter: None,
    }
}

fn saying(run: &Run, from: i64, to: i64, texts: &[&str]) -> AppendRunEvents {
    let facts = texts.iter().zip(0..).map(|(text, at)| (Millis(1_000 + at), said(text))).collect();
    AppendRunEvents { facts, ..stretch(run, from, to) }
}

async fn started(rig: &Rig) -> (TaskId, Run) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    (id, run)
}

async fn a_batch_is_kept_in_order_with_what_it_says_of_the_run(rig: &Rig) {
    let (id, run) = started(rig).await;
    let usage = Totals { input_tokens: 1 << 40, output_tokens: 7, micro_usd: 12 };
    let first = AppendRunEvents {
        usage: Some(usage),
        activity: Some(format!("reading\0 {}", "漢".repeat(500))),
        session: Some("abc-1".to_owned()),
        ..saying(&run, 0, 100, &["b", "a", "c \"quoted\" \0 \u{1F600} {list 1} $1"])
    };
    assert!(rig.ok(first).await);
    let news = rig.news().await;
    let facts: Vec<Fact> = news.iter().map(|event| event.fact.clone()).collect();
    assert_eq!(facts, [said("b"), said("a"), said("c \"quoted\" \0 \u{1F600} {list 1} $1")]);
    assert_eq!(news.iter().map(|event| event.at.0).collect::<Vec<_>>(), [1_000, 1_001, 1_002]);
    for event in &news {
        let subject = event.subject;
        assert_eq!((subject.project, subject.task, subject.run), (Some(run.project), Some(id), Some(run.id)));
    }
    let found = rig.detail(&run).await.run;
    assert_eq!((found.decoded, found.usage, found.session.as_deref()), (100, usage, Some("abc-1")));
    let activity = found.activity.unwrap();
    assert!(activity.starts_with("reading 漢") && activity.chars().count() == 200, "{activity}");

    assert!(rig.ok(stretch(&run, 100, 150)).await);
    let found = rig.detail(&run).await.run;
    assert_eq!((found.decoded, found.usage, found.activity), (150, usage, Some(activity)), "the rest stays");
    assert!(rig.news().await.is_empty());
    let of_the_keeper = AppendRunEvents { batch: 2, ..saying(&run, 150, 150, &["of the keeper"]) };
    assert!(rig.ok(of_the_keeper).await);
    assert_eq!(rig.facts().await, [said("of the keeper")]);
}

/// Standard error and notes of the keeper move no mark: their number tells whether they are there.
async fn what_comes_from_no_output_is_stored_once_as_well(rig: &Rig) {
    let (_, run) = started(rig).await;
    let noted = |batch, text: &str| AppendRunEvents { batch, ..saying(&run, 10, 10, &[text]) };
    rig.ok(saying(&run, 0, 10, &["one"])).await;
    assert!(rig.ok(noted(2, "a note")).await);
    let before = rig.place().dump().await;
    assert!(!rig.ok(noted(2, "a note")).await, "committed, but its answer was lost on the way");
    assert_eq!(rig.place().dump().await, before);
    assert!(rig.ok(noted(3, "a note")).await, "the same words, said again");
    assert!(rig.ok(AppendRunEvents { batch: 4, ..saying(&run, 10, 20, &["two"]) }).await);
    assert_eq!(rig.facts().await, [said("one"), said("a note"), said("a note"), said("two")]);
    assert_eq!(rig.detail(&run).await.run.batches, 4);
}

async fn every_kind_of_fact_comes_back_as_it_was(rig: &Rig) {
    let (_, run) = started(rig).await;
    let text = || "some text".to_owned();
    let facts = vec![
        Fact::RunPrepared { branch: Some(text()), base: None },
        said("x"),
        Fact::Agent(AgentEvent::Reasoning { text: text() }),
        Fact::Agent(AgentEvent::ToolCall {
            id: String::new(),
            name: text(),
            summary: text(),
            files: vec!["a/b".to_owned(), "c".to_owned()],
        }),
        Fact::RunNote { text: text() },
        Fact::RunProgress { text: text(), percent: Some(40) },
        Fact::RunReported { status: text(), summary: text() },
        Fact::Agent(AgentEvent::Error { reason: Reason::RateLimited, text: text() }),
        Fact::RunStopping { why: text() },
        Fact::Agent(AgentEvent::Raw { stream: Stream::Out, text: text(), cut: false }),
        Fact::RunOmitted { count: 9 },
    ];
    let timed = facts.iter().map(|fact| (rig.now(), fact.clone())).collect();
    rig.ok(AppendRunEvents { facts: timed, ..stretch(&run, 0, 1) }).await;
    assert_eq!(rig.facts().await, facts);
}

async fn a_stretch_that_is_read_again_changes_nothing(rig: &Rig) {
    let (_, run) = started(rig).await;
    let first = saying(&run, 0, 10, &["one"]);
    let second = saying(&run, 10, 30, &["two"]);
    assert!(rig.ok(first.clone()).await);
    assert!(!rig.ok(first.clone()).await, "answered, but lost on the way");
    assert!(rig.ok(second.clone()).await);
    let before = rig.place().dump().await;
    for again in [first, second, saying(&run, 5, 20, &["cut otherwise"])] {
        assert!(!rig.ok(again).await);
    }
    assert_eq!(rig.place().dump().await, before);
    assert_eq!(rig.facts().await, [said("one"), said("two")]);
}

async fn a_gap_is_refused(rig: &Rig) {
    let (_, run) = started(rig).await;
    rig.ok(saying(&run, 0, 10, &["one"])).await;
    for (from, to) in [(11, 20), (5, 20), (0, 11)] {
        let error = rig.refused(saying(&run, from, to, &["two"])).await;
        let told = matches!(error, StoreError::OutOfStep { run: named, decoded: 10, from: at } if named == run.id && at == from);
        assert!(told, "{error}");
    }
}

async fn a_lost_lease_appends_nothing(rig: &Rig) {
    let (_, run) = started(rig).await;
    let wrong = Run { attempt: 2, ..run.clone() };
    let lost = |error: &StoreError| matches!(error, StoreError::LeaseLost { run: named } if *named == run.id);
    assert!(lost(&rig.refused(saying(&wrong, 0, 10, &["one"])).await));
    rig.ok(saying(&run, 0, 10, &["one"])).await;
    rig.end(&run, Ending::Released("stop".to_owned())).await;
    assert!(lost(&rig.refused(saying(&run, 10, 20, &["two"])).await));
    assert!(lost(&rig.refused(saying(&run, 0, 10, &["one"])).await), "it is not this keeper's any more");
    let unknown = Run { id: rig.id(), ..run };
    let error = rig.refused(saying(&unknown, 0, 1, &["one"])).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "{error}");
}

/// A keeper that was taken for dead and its successor.
async fn two_who_append_the_same_stretch_store_it_once(rig: &Rig) {
    let (_, run) = started(rig).await;
    let elsewhere = rig.elsewhere().await;
    for round in 0..20 {
        let (from, to) = (round * 10, round * 10 + 10);
        let both = [rig.clone(), elsewhere.clone()].map(|rig| {
            let append = saying(&run, from, to, &["one", "two"]);
            async move { rig.ok(append).await }
        });
        let stored = together(both).await;
        assert_eq!(stored.iter().filter(|stored| **stored).count(), 1, "{stored:?}");
    }
    assert_eq!(rig.facts().await.len(), 40);
}

async fn the_newest_events_of_a_task_are_those_of_its_newest_run(rig: &Rig) {
    let (id, first) = started(rig).await;
    rig.ok(saying(&first, 0, 10, &["lost"])).await;
    rig.end(&first, Ending::Released("again".to_owned())).await;
    let second = rig.start(id).await;
    rig.ok(saying(&second, 0, 10, &["text 1", "text 2"])).await;
    let newest = rig.ok(TaskEvents { task: id, limit: 3 }).await;
    let newest: Vec<Fact> = newest.into_iter().map(|event| event.fact).collect();
    assert!(matches!(newest[0], Fact::TaskStarted { attempt: 2, .. }));
    assert_eq!(newest[1..], [said("text 1"), said("text 2")]);
}

async fn the_newest_of_some_kinds_are_found_among_all_others(rig: &Rig) {
    let (id, first) = started(rig).await;
    let note = |text: &str| Fact::RunNote { text: text.to_owned() };
    let error = Fact::Agent(AgentEvent::Error { reason: Reason::Auth, text: "oh".to_owned() });
    let batch = |run: &Run, facts: Vec<Fact>| AppendRunEvents {
        facts: facts.into_iter().map(|fact| (Millis(1), fact)).collect(),
        ..stretch(run, 0, 10)
    };
    rig.ok(batch(&first, vec![note("of another run")])).await;
    rig.end(&first, Ending::Released("again".to_owned())).await;
    let second = rig.start(id).await;
    let facts = vec![note("a"), said("b"), note("c"), said("d"), error.clone(), said("e")];
    rig.ok(batch(&second, facts)).await;
    let kinds = &["run.note", "run.error"];
    let of = |limit| RunEventsOf { run: second.id, kinds, limit };
    let facts = |events: Vec<fleet_core::event::Event>| {
        events.into_iter().map(|event| event.fact).collect::<Vec<_>>()
    };
    assert_eq!(facts(rig.ok(of(10)).await), [note("a"), note("c"), error.clone()]);
    assert_eq!(facts(rig.ok(of(2)).await), [note("c"), error]);
}

async fn a_large_batch_keeps_its_order(rig: &Rig) {
    let (_, run) = started(rig).await;
    let texts: Vec<String> = (0..2_500).map(|n| format!("line {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for batch in 0..2 {
        rig.ok(saying(&run, batch, batch + 1, &texts)).await;
    }
    let expected: Vec<Fact> = texts.iter().chain(&texts).map(|text| said(text)).collect();
    assert_eq!(rig.facts().await, expected);
}

async fn the_last_words_and_the_end_come_together_or_not_at_all(rig: &Rig) {
    let (id, run) = started(rig).await;
    let close = |from, exited| CloseRun {
        last: Some(saying(&run, from, from + 10, &["bye"])),
        exited,
        end: rig.ending(&run, Ending::Succeeded),
    };
    let error = rig.refused(close(0, true)).await;
    assert!(matches!(error, StoreError::IllegalRun { .. }), "nothing was started: {error:?}");
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    rig.news().await;
    let error = rig.refused(close(50, true)).await;
    assert!(matches!(error, StoreError::OutOfStep { .. }), "{error:?}");
    let error = rig.refused(close(0, false)).await;
    assert!(matches!(error, StoreError::IllegalRun { .. }), "it is still at work: {error:?}");
    assert_eq!(rig.news().await.len(), 0);
    assert_eq!(rig.detail(&run).await.run.state, RunState::Running);

    let task = rig.ok(close(0, true)).await;
    assert_eq!(task.id, id);
    let facts: Vec<Fact> = rig.news().await.into_iter().map(|event| event.fact).collect();
    let moved = Fact::RunMoved { state: RunState::Finishing };
    assert_eq!(facts, [said("bye"), moved, Fact::TaskDone {}]);
    let found = rig.detail(&run).await.run;
    assert_eq!((found.state(), found.decoded), (RunState::Succeeded, 10));
    rig.pass(Duration::from_millis(1));
    assert!(matches!(rig.refused(close(10, false)).await, StoreError::LeaseLost { .. }));
}
