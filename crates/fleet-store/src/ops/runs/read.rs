//! Reading single runs, and those that live.

use fleet_core::message::Question;
use fleet_core::project::Project;
use fleet_core::run::{Run, RunReport};
use fleet_core::task::Task;
use serde::{Deserialize, Serialize};

use super::row::{run, run_columns};
use super::texts::RunTextKind;
use crate::ops::prelude::*;
use crate::ops::projects::{self, project_columns};
use crate::ops::questions::{is_open, question, question_columns};
use crate::ops::rows::{self, Described, task_columns};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunDetail {
    pub run: Run,
    /// Its task, unless that was deleted.
    pub task: Option<Task>,
    /// Whether its task waited for others.
    pub has_dependencies: bool,
    /// Its project, as the place of the run has it.
    pub project: Project,
    pub report: Option<RunReport>,
    pub result: Option<String>,
    /// What its agent asked last, if nobody has answered.
    pub question: Option<Question>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct GetRun {
    pub run: RunId,
}

const TASK_OF_RUN: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", d.text FROM runs r JOIN tasks t ON t.id = r.task LEFT JOIN task_descriptions d ON d.task = t.id WHERE r.id = $1"
);

const PROJECT_OF_RUN: &str = concat!(
    "SELECT ",
    project_columns!("r.place"),
    " FROM runs r JOIN projects p ON p.id = r.project WHERE r.id = $1"
);

const QUESTION_OF_RUN: &str = concat!(
    "SELECT ",
    question_columns!(),
    " FROM runs r JOIN messages m ON m.task = r.task AND m.sender = r.id WHERE r.id = $1 AND (",
    is_open!(),
    " OR m.kind = 'question' AND EXISTS (SELECT 1 FROM messages a WHERE a.task = m.task AND a.reply_to = m.seq \
       AND a.kind = 'answer' AND a.seen_at IS NULL)) ORDER BY m.seq DESC LIMIT 1"
);

#[async_trait]
impl Op for GetRun {
    type Out = RunDetail;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<RunDetail, StoreError> {
        let statements = vec![
            sql!(concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.id = $1"), self.run),
            sql!(TASK_OF_RUN, self.run),
            sql!("SELECT 1 FROM runs r JOIN deps d ON d.task = r.task WHERE r.id = $1 LIMIT 1", self.run),
            sql!(PROJECT_OF_RUN, self.run),
            sql!(
                "SELECT text FROM run_texts WHERE run = $1 AND kind = $2",
                self.run,
                RunTextKind::Report.as_str()
            ),
            sql!(
                "SELECT text FROM run_texts WHERE run = $1 AND kind = $2",
                self.run,
                RunTextKind::Result.as_str()
            ),
            sql!(QUESTION_OF_RUN, self.run),
        ];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default().into_iter().next();
        let gone = || StoreError::RunNotFound(self.run.to_string());
        Ok(RunDetail {
            run: run(&mut next().ok_or_else(gone)?)?,
            task: next().map(|row| rows::task(row, Described::Joined)).transpose()?,
            has_dependencies: next().is_some(),
            project: projects::project(next().ok_or_else(gone)?)?,
            report: next().map(|mut row| row.json()).transpose()?,
            result: next().map(|mut row| row.text()).transpose()?,
            question: next().map(question).transpose()?,
        })
    }
}

/// The live runs of a place, oldest first. The runner of the place compares them with its processes.
#[derive(Debug, Clone)]
pub struct LiveRuns {
    /// The host and home.
    pub place: String,
}

#[async_trait]
impl Op for LiveRuns {
    type Out = Vec<Run>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Run>, StoreError> {
        let live = sql!(
            concat!(
                "SELECT ",
                run_columns!(),
                " FROM runs r WHERE r.ended_at IS NULL AND r.place = $1 ORDER BY r.id"
            ),
            self.place.as_str(),
        );
        tx.query_alone(live).await?.into_iter().map(|mut row| run(&mut row)).collect()
    }
}
