//! What keepers record about their runs, how runs are read, and how they are asked to stop.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::run::{Ending, Reason, RunMove, RunState, StopKind, StopRequest};
use fleet_core::task::{TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{GetRun, LiveRuns, Prepared, RequestStop};

use crate::harness::{HERE, Rig, together};

story! {
    a_run_is_prepared_step_by_step
    a_run_is_read_with_what_surrounds_it
    a_start_has_its_time
    live_runs_are_those_of_a_place
    a_stop_reaches_the_keeper_with_its_renewal
    a_cancellation_beats_a_release
    only_live_runs_are_stopped
    a_cancelled_run_cancels_its_task
    whatever_an_agent_says_can_be_kept
    many_who_stop_a_run_agree
}

#[expect(clippy::unnecessary_wraps, reason = "as the optional fields want it")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

async fn a_run_is_prepared_step_by_step(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    let keeper = Prepared { keeper: text(r#"{"pid":7}"#), ..Prepared::default() };
    rig.ok(rig.preparing(&run, keeper)).await;
    assert!(rig.news().await.is_empty(), "who keeps it is no news");
    let workspace = Prepared {
        branch: text("fleet/one"),
        base: text("0123abcd"),
        workspace: text("/home/.fleet/worktrees/one"),
        model: text("opus"),
        ..Prepared::default()
    };
    rig.ok(rig.preparing(&run, workspace)).await;
    let (branch, base) = (text("fleet/one"), text("0123abcd"));
    let news = rig.news().await;
    assert_eq!(news[0].fact, Fact::RunPrepared { branch: branch.clone(), base: base.clone() });
    let subject = news[0].subject;
    assert_eq!((subject.task, subject.run, subject.project), (Some(id), Some(run.id), Some(run.project)));
    let found = rig.detail(&run).await.run;
    assert_eq!((&found.branch, &found.base), (&branch, &base));
    assert_eq!((found.keeper.as_deref(), found.model.as_deref()), (Some(r#"{"pid":7}"#), Some("opus")));
    assert_eq!(found.workspace.as_deref(), Some("/home/.fleet/worktrees/one"));
    let moved = Prepared { branch: text("fleet/two"), ..Prepared::default() };
    rig.ok(rig.preparing(&run, moved)).await;
    assert_eq!(rig.facts().await, [Fact::RunPrepared { branch: text("fleet/two"), base }]);
}

async fn a_run_is_read_with_what_surrounds_it(rig: &Rig) {
    let mut draft = rig.draft("one").await;
    draft.spec.description = "the prompt".parse().unwrap();
    let id = rig.add_one(draft).await;
    let run = rig.start(id).await;
    let detail = rig.detail(&run).await;
    assert_eq!(detail.run, run);
    assert_eq!(detail.task, Some(rig.get(id).await.task));
    assert_eq!((detail.project.id, detail.project.common_dir.as_str()), (run.project, "/repo/.git"));
    assert_eq!((detail.report, detail.result), (None, None));
    rig.work(&run).await;
    let result = r#"{"summary":"done – ünï"}"#;
    let end = rig.ending(&run, Ending::Succeeded);
    rig.ok(fleet_store::ops::EndRun { result: text(result), ..end }).await;
    let detail = rig.detail(&run).await;
    assert_eq!((detail.run.state(), detail.result.as_deref()), (RunState::Succeeded, Some(result)));
    rig.ok(rig.deleting(id)).await;
    let detail = rig.detail(&run).await;
    assert!(detail.task.is_none() && detail.run.task == id, "what happened stays");
    let unknown = GetRun { run: rig.id() };
    let error = rig.refused(unknown).await;
    assert!(matches!(&error, StoreError::RunNotFound(text) if *text == unknown.run.to_string()), "{error}");
}

async fn a_start_has_its_time(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    assert_eq!(rig.detail(&run).await.run.started_at, None);
    rig.pass(Duration::from_secs(3));
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    let started = Some(rig.now());
    rig.pass(Duration::from_secs(3));
    rig.ok(rig.advancing(&run, RunMove::Exit)).await;
    rig.end(&run, Ending::Succeeded).await;
    let found = rig.detail(&run).await.run;
    assert_eq!((found.started_at, found.ended_at), (started, Some(rig.now())));
}

async fn live_runs_are_those_of_a_place(rig: &Rig) {
    let ids = rig.tasks(4).await;
    let mut here = rig.claim(3).await;
    let there = fleet_store::ops::Claim { place: "there".to_owned(), ..rig.claiming(1) };
    let there = rig.ok(there).await.pop().unwrap().run;
    let ended = here.remove(1).run;
    rig.end(&ended, Ending::Released("stop".to_owned())).await;
    rig.moved(ids[2], TaskMove::Cancel).await;
    let live = async |place: &str| rig.ok(LiveRuns { place: place.to_owned() }).await;
    assert_eq!(live(HERE).await, [here[0].run.clone()]);
    assert_eq!(live("there").await, [there]);
    assert!(live("nowhere").await.is_empty());
}

fn stop(kind: StopKind, why: &str) -> StopRequest {
    StopRequest { kind, why: why.to_owned() }
}

async fn a_stop_reaches_the_keeper_with_its_renewal(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    assert_eq!(rig.ok(rig.renewing(&run)).await.stop, None);
    rig.news().await;
    let wish = stop(StopKind::Cancel, "wrong \"idea\"");
    let asked = RequestStop { run: run.id, stop: wish.clone(), now: rig.now() };
    assert_eq!(rig.ok(asked).await, wish);
    assert_eq!(rig.facts().await, [Fact::RunStopping { why: wish.why.clone() }]);
    assert_eq!(rig.ok(rig.renewing(&run)).await.stop, Some(wish.clone()));
    assert_eq!(rig.detail(&run).await.run.stop, Some(wish));
    assert_eq!(rig.state(id).await, TaskState::Running, "only the keeper ends it");
}

async fn a_cancellation_beats_a_release(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    let ask = async |kind, why: &str| {
        rig.ok(RequestStop { run: run.id, stop: stop(kind, why), now: rig.now() }).await
    };
    let release = stop(StopKind::Release, "shutdown");
    assert_eq!(ask(StopKind::Release, "shutdown").await, release);
    assert_eq!(ask(StopKind::Release, "again").await, release);
    let cancel = stop(StopKind::Cancel, "not needed");
    assert_eq!(ask(StopKind::Cancel, "not needed").await, cancel);
    for (kind, why) in [(StopKind::Cancel, "again"), (StopKind::Release, "again")] {
        assert_eq!(ask(kind, why).await, cancel);
    }
    assert_eq!(rig.ok(rig.renewing(&run)).await.stop, Some(cancel));
    assert_eq!(rig.kinds().await, ["run.stopping", "run.stopping"]);
}

async fn only_live_runs_are_stopped(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.succeed(&run).await;
    let ask = RequestStop { run: run.id, stop: stop(StopKind::Cancel, "late"), now: rig.now() };
    let error = rig.refused(ask.clone()).await;
    let illegal = matches!(error, StoreError::IllegalRun { run: named, from: RunState::Succeeded, .. } if named == run.id);
    assert!(illegal, "{error}");
    let error = rig.refused(RequestStop { run: rig.id(), ..ask }).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "{error}");
}

async fn a_cancelled_run_cancels_its_task(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.ok(rig.advancing(&run, RunMove::Start)).await;
    rig.news().await;
    let task = rig.end(&run, Ending::Cancelled("not needed".to_owned())).await;
    assert_eq!((task.state(), task.history.remark.as_deref()), (TaskState::Cancelled, Some("not needed")));
    assert_eq!((task.history.failures, task.history.reason), (0, None), "nobody failed");
    let ended = rig.detail(&run).await.run;
    assert_eq!((ended.state(), ended.reason), (RunState::Cancelled, None));
    assert_eq!(ended.detail.as_deref(), Some("not needed"));
    assert_eq!(rig.facts().await, [Fact::TaskCancelled { remark: text("not needed") }]);
    assert_eq!(rig.moved(id, TaskMove::Retry).await.history.remark, None);
    assert_eq!(rig.start(id).await.attempt, 2);
}

async fn whatever_an_agent_says_can_be_kept(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    let said = format!("a\0b\u{1b}[31m\u{fffd}{}", "漢".repeat(5_000));
    let task = rig.end(&run, Ending::Failed(Reason::AgentError, said)).await;
    let remark = task.history.remark.unwrap();
    assert!(remark.starts_with("ab\u{1b}[31m\u{fffd}漢") && remark.chars().count() == 2_000);
    let detail = rig.detail(&run).await.run.detail.unwrap();
    assert_eq!(detail, remark);
    let facts = rig.facts().await;
    assert!(matches!(facts.last(), Some(Fact::TaskRequeued { detail: told, .. }) if *told == detail));
}

async fn many_who_stop_a_run_agree(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    let elsewhere = rig.elsewhere().await;
    let kinds = [StopKind::Release, StopKind::Cancel].into_iter().cycle();
    let asking = [rig.clone(), elsewhere].into_iter().cycle().zip(kinds).take(16).enumerate();
    let asked = together(asking.map(|(n, (rig, kind))| {
        let ask = RequestStop { run: run.id, stop: stop(kind, &n.to_string()), now: rig.now() };
        async move { rig.ok(ask).await }
    }))
    .await;
    let last = rig.ok(rig.renewing(&run)).await.stop.unwrap();
    assert_eq!(last.kind, StopKind::Cancel);
    assert!(asked.iter().filter(|stop| stop.kind == StopKind::Cancel).all(|stop| *stop == last));
    assert!(rig.kinds().await.len() <= 2, "a release and a cancellation at most");
}
