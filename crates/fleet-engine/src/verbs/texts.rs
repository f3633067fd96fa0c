//! Reading tasks to compare what they say.

use fleet_core::similar::{Parts, Text};
use fleet_core::task::{Label, Status, Task};
use fleet_store::ops::TaskTextPage;

use super::prelude::*;
use super::task_add::parsed;

/// At most this many tasks are compared, newest first: enough for any queue that people keep in mind.
pub(super) const MAX_TASKS: i64 = 2_000;

#[derive(Debug, Clone, Default)]
pub(super) struct TextFilter {
    pub(super) statuses: Vec<Status>,
    pub(super) labels: Vec<String>,
    pub(super) all_projects: bool,
}

/// The tasks, newest first; none where the project has never had one.
pub(super) async fn read(engine: &Engine, which: &TextFilter) -> Outcome<TaskTextPage> {
    let mut labels = which.labels.iter().map(|text| parsed::<Label>(text)).collect::<Outcome<Vec<_>>>()?;
    labels.sort();
    labels.dedup();
    let project = if which.all_projects {
        None
    } else {
        match engine.known_project().await? {
            Some(project) => Some(project.id),
            None => return Ok(TaskTextPage { tasks: Vec::new(), more: false }),
        }
    };
    let statuses = which.statuses.clone();
    engine.call(ops::TaskTexts { statuses, project, labels, limit: MAX_TASKS, now: engine.now() }).await
}

pub(super) fn text(task: &Task) -> Text {
    let spec = &task.spec;
    Text::new(Parts { title: spec.title.as_str(), body: spec.description.as_str() })
        .with(spec.labels.iter().map(Label::as_str), spec.scope.patterns())
}

pub(super) fn threshold(given: Option<f64>, default: f64) -> Outcome<f64> {
    match given {
        None => Ok(default),
        Some(score) if (0.0..=1.0).contains(&score) => Ok(score),
        Some(score) => Err(Problem::field("threshold", format!("{score} is not between 0 and 1"))
            .hint("0.4 finds related tasks, 0.7 near-duplicates")),
    }
}
