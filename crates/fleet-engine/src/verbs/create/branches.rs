//! Branches that are named for new work: new ones, and existing ones on which it goes on.
//!
//! Git is asked before anything is added, and again when the work starts.

use std::path::Path;

use fleet_api::verbs::create::ExistingBranches;
use fleet_api::views::ExistingBranchView;
use fleet_core::task::{BaseRef, BranchName, Task, TaskSpec, TaskState};
use fleet_host::git::{self, ExistingBranch, GitError, NamedBranch};

use super::git_problem;
use super::names::{self, NameHolder};
use crate::verbs::prelude::*;

/// A branch that work goes on with.
#[derive(Debug, Clone)]
pub(in crate::verbs) struct GoesOn {
    found: ExistingBranch,
    pub(in crate::verbs) shown: ExistingBranchView,
}

impl GoesOn {
    /// The full name of the remote branch that it is made from, if there is no local one.
    pub(in crate::verbs) fn remote(&self) -> Option<&str> {
        self.found.remote.as_deref()
    }

    /// The task that goes on with it. A local branch says itself where the work starts.
    pub(in crate::verbs) fn settle(&self, spec: &mut TaskSpec, start: Option<BaseRef>) -> Outcome<()> {
        let commit = &self.shown.commit;
        if let (Some(_), Some(branch)) = (&spec.base, &spec.branch) {
            let short = commit.get(..7).unwrap_or(commit);
            let why = format!("the branch {branch} exists, so its work starts from its last commit, {short}");
            return Err(Problem::field("base", why)
                .hint("leave out `--base` to go on with the branch, or choose a new name"));
        }
        spec.existing_branch = true;
        spec.base = start.filter(|_| self.found.remote.is_some());
        Ok(())
    }

    /// The commit that work on a branch of a remote starts from, whatever is fetched later.
    pub(super) fn commit(&self) -> Outcome<BaseRef> {
        self.shown.commit.parse().map_err(problems::field)
    }
}

/// Looks all of these branches up: `None` for a new one. Refuses those that cannot be had. Agents name only new ones:
/// the others are the user's.
pub(in crate::verbs) async fn look_up(
    engine: &Engine,
    wanted: Vec<BranchName>,
    rule: ExistingBranches,
) -> Outcome<Vec<Option<GoesOn>>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rule = if engine.caller()?.run().is_some() { ExistingBranches::Refuse } else { rule };
    let repo = engine.repository()?.common_dir.clone();
    let look = move || wanted.into_iter().map(|branch| look(&repo, branch)).collect::<Result<Vec<_>, _>>();
    let looked = blocking(look).await?.map_err(|error| git_problem("branch", &error))?;
    let mut all = Vec::with_capacity(looked.len());
    for looked in looked {
        all.push(judge(engine, looked, rule).await?);
    }
    Ok(all)
}

/// A branch as git has it.
struct LookedUp {
    branch: BranchName,
    found: NamedBranch,
    ahead: Option<(String, u64)>,
}

fn look(repo: &Path, branch: BranchName) -> Result<LookedUp, GitError> {
    let found = git::find_branch(repo, branch.as_str())?;
    let ahead = match &found {
        NamedBranch::Existing(existing) if !existing.is_main => git::ahead_of_main(repo, &existing.commit)?,
        _ => None,
    };
    Ok(LookedUp { branch, found, ahead })
}

async fn judge(engine: &Engine, looked: LookedUp, rule: ExistingBranches) -> Outcome<Option<GoesOn>> {
    let (branch, ahead) = (looked.branch.to_string(), looked.ahead);
    let found = match looked.found {
        NamedBranch::New => return Ok(None),
        NamedBranch::Impossible { why } => return Err(names::taken(&branch, &NameHolder::Neighbour(why))),
        NamedBranch::Existing(found) => found,
        // A new local branch may be called so.
        NamedBranch::Ambiguous { .. } | NamedBranch::OfRemote { .. } if rule == ExistingBranches::Refuse => {
            return Ok(None);
        }
        NamedBranch::Ambiguous { remotes } => return Err(names::ambiguous(&branch, &remotes)),
        NamedBranch::OfRemote { remote, branch: there } => {
            return Err(names::of_remote(&branch, &remote, &there));
        }
    };
    if rule == ExistingBranches::Refuse {
        if found.remote.is_some() {
            return Ok(None);
        }
        let is_own = found.is_main || found.in_use.is_some();
        let holder = if is_own { NameHolder::Own } else { maker(engine, &branch).await };
        return Err(names::taken(&branch, &holder));
    }
    if let Some(place) = &found.in_use {
        return Err(names::in_use(&branch, place));
    }
    if found.is_main && rule != ExistingBranches::TakeMain {
        return Err(names::is_main(&branch));
    }
    let short = |name: &str| name.strip_prefix("refs/remotes/").unwrap_or(name).to_owned();
    let (ahead_of, ahead) = ahead.unzip();
    let (commit, remote) = (found.commit.to_string(), found.remote.as_deref().map(short));
    let shown = ExistingBranchView { branch, commit, remote, ahead, ahead_of };
    Ok(Some(GoesOn { found, shown }))
}

/// The task that made a branch, for advice: not knowing it is no reason to fail otherwise than for the branch.
async fn maker(engine: &Engine, branch: &str) -> NameHolder {
    match newest_task_on(engine, branch).await {
        Some(task) if !task.state().is_settled() => NameHolder::Task(task.id),
        Some(task) if task.state() != TaskState::Done => NameHolder::Branch(Some(task.id)),
        _ => NameHolder::Branch(None),
    }
}

async fn newest_task_on(engine: &Engine, branch: &str) -> Option<Task> {
    let project = engine.known_project().await.ok()??.id;
    let find = ops::ResolveRun { typed: branch.to_owned(), project: Some(project) };
    let run = engine.call(find).await.ok()?;
    let detail = engine.call(ops::GetRun { run }).await.ok()?;
    detail.task.filter(|task| task.project == project)
}
