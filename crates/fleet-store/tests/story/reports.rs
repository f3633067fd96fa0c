//! What agents say from inside their runs.

use fleet_core::event::Fact;
use fleet_core::run::{Ending, Run, RunReport};
use fleet_store::StoreError;
use fleet_store::ops::ReportRun;
use serde_json::json;

use crate::harness::Rig;

story! {
    an_agent_reports
    a_run_that_is_not_there_takes_no_reports
    a_run_that_ended_takes_no_reports
    reports_are_bounded
}

async fn started(rig: &Rig) -> Run {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    rig.news().await;
    run
}

fn reporting(rig: &Rig, run: &Run, report: RunReport) -> ReportRun {
    ReportRun { run: run.id, report, now: rig.now() }
}

async fn an_agent_reports(rig: &Rig) {
    let run = started(rig).await;
    let report = async |report: RunReport| {
        rig.ok(reporting(rig, &run, report)).await;
        rig.facts().await
    };
    let progress = |percent| RunReport::Progress { text: "half way".to_owned(), percent };
    assert_eq!(
        report(progress(Some(50))).await,
        [Fact::RunProgress { text: "half way".to_owned(), percent: Some(50) }]
    );
    report(progress(None)).await;
    let found = rig.detail(&run).await;
    assert_eq!((found.run.activity.as_deref(), found.run.percent), (Some("half way"), Some(50)));
    assert_eq!(found.report, None, "nothing was declared");
    assert_eq!(report(RunReport::Note("odd".to_owned())).await, [Fact::RunNote { text: "odd".to_owned() }]);
    assert_eq!(rig.detail(&run).await.run.activity.as_deref(), Some("odd"));
    let failed = RunReport::Fail("stuck".to_owned());
    let told = Fact::RunReported { status: "failed".to_owned(), summary: "stuck".to_owned() };
    assert_eq!(report(failed.clone()).await, [told]);
    assert_eq!(rig.detail(&run).await.report, Some(failed));
    let done =
        RunReport::Done(json!({ "status": "completed", "summary": "Döne \u{0}", "files_changed": ["a"] }));
    let told = Fact::RunReported { status: "completed".to_owned(), summary: "Döne ".to_owned() };
    assert_eq!(report(done.clone()).await, [told]);
    assert_eq!(rig.detail(&run).await.report, Some(done.clone()), "the last one counts");
    rig.succeed(&run).await;
    assert_eq!(rig.detail(&run).await.report, Some(done), "and stays");
}

async fn a_run_that_is_not_there_takes_no_reports(rig: &Rig) {
    let run = started(rig).await;
    let unknown = ReportRun { run: rig.id(), ..reporting(rig, &run, RunReport::Note("hello".to_owned())) };
    let error = rig.refused(unknown).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "{error}");
}

async fn a_run_that_ended_takes_no_reports(rig: &Rig) {
    let run = started(rig).await;
    rig.end(&run, Ending::Released("stop".to_owned())).await;
    let late = reporting(rig, &run, RunReport::Done(json!({})));
    let error = rig.refused(late).await;
    assert!(matches!(error, StoreError::LeaseLost { run: named } if named == run.id), "{error}");
}

async fn reports_are_bounded(rig: &Rig) {
    let run = started(rig).await;
    let long = "漢".repeat(300_000);
    let error = rig.refused(reporting(rig, &run, RunReport::Done(json!({ "summary": long })))).await;
    assert!(matches!(error, StoreError::Field(_)), "{error}");
    let progress = RunReport::Progress { text: long.clone(), percent: Some(255) };
    for report in [RunReport::Note(long.clone()), progress, RunReport::Fail(long)] {
        rig.ok(reporting(rig, &run, report)).await;
    }
    let found = rig.detail(&run).await;
    assert_eq!((found.run.percent, found.run.activity.unwrap().chars().count()), (Some(100), 200));
    for event in rig.news().await {
        assert!(event.fact.parts().1.len() < 40_000, "{} is long", event.fact.kind());
    }
}
