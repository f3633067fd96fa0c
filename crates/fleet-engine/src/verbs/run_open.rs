use fleet_api::verbs::run_open::{Answer, Request};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::ops;

use crate::Engine;
use crate::home::Home;
use crate::keeper::blocking;
use crate::verbs::elsewhere;
use crate::verbs::gc::area;

/// Finds the folder of a run that is at work on this machine.
pub(crate) async fn run(engine: &Engine, Request { id }: Request) -> Outcome<Answer> {
    let run = engine.run_id(&id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let (area, owner) = (area(engine, &detail.project)?, run.to_string());
    let seen = blocking(move || area.look(&owner)).await?;
    let seen = seen.map_err(|error| Problem::new(Code::Io, error.to_string()))?;
    let branch = detail.run.branch.clone();
    if let Some(seen) = seen {
        return Ok(Answer { run, branch, workspace: seen.checkout.work_tree });
    }
    let name = branch.unwrap_or(id);
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
