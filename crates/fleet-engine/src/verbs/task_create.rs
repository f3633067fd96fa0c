//! Adds a task unless there is one already that says nearly the same.
//!
//! The look comes before the adding and is not part of it: two that add the same task at the same moment are both
//! served.

use fleet_core::problem::Outcome;
use serde::Serialize;

use super::task_add;
use super::task_similar::{self, Of, Similar};
use super::texts;
use crate::views::TaskView;
use crate::{Engine, runner};

/// A task, and what to do if it is there already.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The task as somebody types it.
    pub task: task_add::Request,
    /// Whether to look for others.
    pub duplicates: Duplicates,
    /// How alike two tasks are that count as the same, from 0 to 1; `None` is 0.7.
    pub threshold: Option<f64>,
}

/// What to do about a task that is there already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Do not look.
    #[default]
    Ignore,
    /// Add the task, and tell which others are like it.
    Tell,
    /// Do not add it.
    Refuse,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The task; null if it was not added because of another one.
    pub task: Option<TaskView>,
    /// Whether its agent can be started here; otherwise it waits for a runner elsewhere that can.
    pub agent_is_here: bool,
    /// Others that are like it and not cancelled, the most alike first.
    pub similar: Vec<Similar>,
}

/// From here on two tasks are nearly the same.
pub const SAME: f64 = 0.7;

/// Adds it, or says what is there.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let Request { task, duplicates, threshold } = request;
    let threshold = texts::threshold(threshold, SAME)?;
    // First of all whether it could be added at all: a wrong field is not a duplicate.
    task_add::spec(engine, &task)?;
    let similar = match duplicates {
        Duplicates::Ignore => Vec::new(),
        Duplicates::Tell | Duplicates::Refuse => like(engine, &task, threshold).await?,
    };
    let agent_is_here = runner::can_start(engine, task.agent.as_deref())?;
    if duplicates == Duplicates::Refuse && !similar.is_empty() {
        return Ok(Response { task: None, agent_is_here, similar });
    }
    Ok(Response { task: Some(task_add::run(engine, task).await?), agent_is_here, similar })
}

async fn like(engine: &Engine, task: &task_add::Request, threshold: f64) -> Outcome<Vec<Similar>> {
    let text = format!("{}\n{}", task.title, task.description.as_deref().unwrap_or_default());
    let request = task_similar::Request {
        of: Of::Text(text),
        threshold: Some(threshold),
        all_projects: false,
        limit: None,
    };
    let found = task_similar::run(engine, &request).await?.similar;
    // What somebody decided against is no reason not to want it again.
    Ok(found.into_iter().filter(|similar| similar.task.status != "cancelled").collect())
}
