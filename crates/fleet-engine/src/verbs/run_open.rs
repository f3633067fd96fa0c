//! Where the agent of a run works.

use std::path::PathBuf;

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::ops;
use serde::Serialize;

use crate::Engine;
use crate::home::Home;
use crate::keeper::blocking;
use crate::verbs::elsewhere;
use crate::verbs::gc::area;

/// The folder of a run.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Response {
    pub run: RunId,
    pub branch: Option<String>,
    pub workspace: PathBuf,
}

/// Finds the folder of a run that is at work on this machine.
pub async fn run(engine: &Engine, id: &str) -> Outcome<Response> {
    let run = engine.run_id(id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let (area, owner) = (area(engine, &detail.project)?, run.to_string());
    let seen = blocking(move || area.look(&owner)).await?;
    let seen = seen.map_err(|error| Problem::new(Code::Io, error.to_string()))?;
    let branch = detail.run.branch.clone();
    if let Some(seen) = seen {
        return Ok(Response { run, branch, workspace: seen.checkout.work_tree });
    }
    let name = branch.unwrap_or_else(|| id.to_owned());
    Err(if detail.run.state.is_live() {
        let message = format!("run {run} has no workspace on this machine, or not yet");
        Problem::new(Code::NotHere, message).hint(format!("`fleet show {run}` shows its state"))
    } else {
        let kept = Home::new(engine.home()).kept();
        let message = format!("run {run} has ended, and its workspace was given back");
        Problem::new(Code::NotHere, message)
            .hint(format!("`git switch {name}` or `git worktree add ../{name} {name}` opens its branch"))
            .hint(format!("a workspace that could not be saved is in {}", kept.display()))
    })
}
