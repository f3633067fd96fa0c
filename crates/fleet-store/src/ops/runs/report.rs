//! What an agent says from inside its run.

use fleet_core::run::{Run, RunReport};
use fleet_core::task::FieldError;

use super::row::{about_run, run, run_columns};
use super::texts::{RunTextKind, bounded, shown, write_text};
use crate::ops::prelude::*;
use crate::ops::rows::record;

#[derive(Debug, Clone)]
pub struct ReportRun {
    pub run: RunId,
    pub report: RunReport,
    pub now: Millis,
}

/// The largest declaration, in bytes: far above any honest one.
const LARGEST_REPORT: usize = 256 << 10;
/// The longest note, in characters.
const LONGEST_NOTE: usize = 10_000;

#[async_trait]
impl Op for ReportRun {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        let run = self.admit(tx).await?;
        let report = tidy(&self.report);
        if report.is_final() {
            write_text(tx, self.run, RunTextKind::Report, &declaration(&report)?).await?;
        }
        let (activity, percent) = match &report {
            RunReport::Progress { text, percent } => (Some(shown(text)), *percent),
            RunReport::Note(text) => (Some(shown(text)), None),
            RunReport::Done(_) | RunReport::Fail(_) => (None, None),
        };
        let update = sql!(
            "UPDATE runs SET activity = coalesce($2, activity), percent = coalesce($3, percent) WHERE id = $1",
            self.run,
            activity.map(|text| bounded(&text, super::append::LONGEST_ACTIVITY)),
            percent.map(i64::from),
        );
        tx.defer(update).await?;
        record(tx, self.now, about_run(&run), &fact(&report)).await
    }
}

impl ReportRun {
    /// The run, locked, if it lives.
    async fn admit(&self, tx: &mut dyn Tx) -> Result<Run, StoreError> {
        let find =
            sql!(concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.id = $1 {for_update}"), self.run,);
        let row = tx.query_one(find).await?;
        let mut row = row.ok_or_else(|| StoreError::RunNotFound(self.run.to_string()))?;
        let run = run(&mut row)?;
        if !run.state.is_live() {
            return Err(StoreError::LeaseLost { run: self.run });
        }
        Ok(run)
    }
}

/// Cuts it to the length that is kept.
fn tidy(report: &RunReport) -> RunReport {
    match report {
        RunReport::Done(report) => RunReport::Done(report.clone()),
        RunReport::Fail(why) => RunReport::Fail(bounded(why, LONGEST_NOTE)),
        RunReport::Note(text) => RunReport::Note(bounded(text, LONGEST_NOTE)),
        RunReport::Progress { text, percent } => RunReport::Progress {
            text: bounded(text, LONGEST_NOTE),
            percent: percent.map(|percent| percent.min(100)),
        },
    }
}

fn declaration(report: &RunReport) -> Result<String, StoreError> {
    let text = serde_json::to_string(report).map_err(|error| StoreError::Malformed(error.to_string()))?;
    if text.len() > LARGEST_REPORT {
        let why = format!("it has {} bytes, at most {LARGEST_REPORT} are allowed", text.len());
        return Err(FieldError { field: "report", why }.into());
    }
    Ok(text)
}

fn fact(report: &RunReport) -> Fact {
    match report.fact() {
        Fact::RunReported { status, summary } => {
            Fact::RunReported { status: shown(&status), summary: shown(&summary) }
        }
        other => other,
    }
}
