//! Which tasks have work that could be in the way of others, and what that is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use fleet_core::conflict::Party;
use fleet_core::id::ProjectId;
use fleet_core::scope::FileScope;
use fleet_core::task::{Status, Task, TaskState};
use fleet_host::git::{self, GitError, LandingTarget, Oid};
use fleet_store::ops::{ListedRun, StatusFilter};

use super::{ConflictSide, Unseen};
use crate::landing_status::LandingStatus;
use crate::verbs::elsewhere::ThisPlace;
use crate::verbs::prelude::*;
use crate::verbs::run_diff;

/// At most this many branches are compared, newest first.
const MAX_BRANCHES: usize = 50;
/// At most this many tasks that have not begun, but say which files they will touch.
const MAX_CLAIMS: i64 = 150;
/// How long after its end work of other machines is mentioned.
const RECENT: Duration = Duration::from_hours(7 * 24);
/// At most this many runs are searched for branches that have not landed.
const MAX_RUNS_SEARCHED: i64 = 1_000;

pub(super) struct ConflictParty {
    pub(super) party: Party,
    pub(super) side: ConflictSide,
    pub(super) head: Option<Oid>,
}

/// Everything that could be in the way.
pub(super) struct OpenWork {
    pub(super) pieces: Vec<ConflictParty>,
    pub(super) landing: Option<LandingTarget>,
    pub(super) unseen: Vec<Unseen>,
    pub(super) more: bool,
}

/// Work that has not landed: where it began and where it is now.
struct UnlandedWork {
    listed: ListedRun,
    sides: Option<(Oid, Oid)>,
}

/// Looks at the runs of a project and at its open tasks.
pub(super) async fn look(
    engine: &Engine,
    (repo, vault): (&Path, &Path),
    about: &BTreeSet<TaskId>,
) -> Outcome<OpenWork> {
    let Some(project) = engine.known_project().await? else {
        return Ok(OpenWork { pieces: Vec::new(), landing: None, unseen: Vec::new(), more: false });
    };
    let (claims, more_claims) = claims(engine, project.id, about).await?;
    let (listed, landing, more_work) = unlanded(engine, repo, project.id, about).await?;
    let (mut works, mut unseen) = (Vec::new(), Vec::new());
    let here = ThisPlace::of(engine)?;
    for listed in listed {
        if let Some(place) = here.place_of(&listed.run) {
            unseen.push(Unseen { task: listed.run.task, why: format!("its work is {place}") });
            works.push(UnlandedWork { listed, sides: None });
            continue;
        }
        match sides(engine, &listed.run).await {
            Ok(sides) => works.push(UnlandedWork { listed, sides: Some(sides) }),
            Err(why) => {
                unseen.push(Unseen { task: listed.run.task, why });
                works.push(UnlandedWork { listed, sides: None });
            }
        }
    }
    let (repo, vault, now) = (repo.to_owned(), vault.to_owned(), engine.now());
    let pieces = blocking(move || {
        git::open_vault(&repo, &vault)?;
        pieces(&vault, works, claims, |task| task.status(now).as_str())
    })
    .await?;
    let pieces = pieces.map_err(problems::git)?;
    Ok(OpenWork { pieces, landing, unseen, more: more_claims || more_work })
}

/// Open tasks that say which files they will touch, and those that were asked about.
async fn claims(
    engine: &Engine,
    project: ProjectId,
    about: &BTreeSet<TaskId>,
) -> Outcome<(BTreeMap<TaskId, Task>, bool)> {
    let mut statuses = StatusFilter::open();
    // A failed task claims nothing until it is resumed.
    statuses.0.retain(|status| *status != Status::In(TaskState::Failed));
    let filter = ops::TaskFilter { project: Some(project), ..ops::TaskFilter::default() };
    let page = engine.call(ops::ListTasks { statuses, filter, limit: MAX_CLAIMS, now: engine.now() }).await?;
    let scoped = page.tasks.into_iter().filter(|task| !task.spec.scope.is_empty());
    let mut claims: BTreeMap<TaskId, Task> = scoped.map(|task| (task.id, task)).collect();
    for id in about {
        let task = engine.call(ops::GetTask { id: *id }).await?.task;
        let claims_files = !task.spec.scope.is_empty() && !task.state().is_settled();
        if task.project == project && claims_files {
            claims.insert(*id, task);
        }
    }
    Ok((claims, page.more))
}

/// The newest runs of tasks that are at work or whose branch has not landed.
async fn unlanded(
    engine: &Engine,
    repo: &Path,
    project: ProjectId,
    about: &BTreeSet<TaskId>,
) -> Outcome<(Vec<ListedRun>, Option<LandingTarget>, bool)> {
    let filter = ops::RunFilter { project: Some(project), newest_of_task: true, ..ops::RunFilter::default() };
    let mut runs = engine.call(ops::ListRuns { filter, limit: MAX_RUNS_SEARCHED }).await?;
    let was_cut = i64::try_from(runs.len()).is_ok_and(|count| count >= MAX_RUNS_SEARCHED);
    let names: BTreeSet<String> = runs.iter().filter_map(|listed| listed.run.branch.clone()).collect();
    let place = repo.to_owned();
    let status = blocking(move || LandingStatus::look(&place, &names)).await?.map_err(problems::git)?;
    let here = ThisPlace::of(engine)?;
    runs.retain(|listed| {
        // It is unknown here whether that has landed; it is mentioned for a while.
        if !here.has(&listed.run) {
            let is_recent = listed.run.ended_at.is_none_or(|at| engine.now().since(at) < RECENT);
            return listed.task_state.is_some() && (is_recent || about.contains(&listed.run.task));
        }
        let branch = listed.run.branch.as_ref().and_then(|name| status.branches.get(name));
        let is_unchanged = |commit: &Oid| listed.run.base.as_deref() == Some(commit.as_str());
        let is_open =
            branch.is_some_and(|branch| status.landed(branch).is_none() && !is_unchanged(&branch.commit));
        listed.task_state.is_some() && listed.run.base.is_some() && (listed.run.state.is_live() || is_open)
    });
    // Those that were asked about come first when not all can be looked at.
    runs.sort_by_key(|listed| !about.contains(&listed.run.task));
    let more = was_cut || runs.len() > MAX_BRANCHES;
    runs.truncate(MAX_BRANCHES);
    Ok((runs, status.landings.into_iter().next(), more))
}

/// Where work began and where it is now: with what is not committed yet, if its agent is running here.
async fn sides(engine: &Engine, run: &Run) -> Result<(Oid, Oid), String> {
    match run_diff::find(engine, run.id, None).await {
        Ok(found) => {
            let (base, head) = found.sides();
            Ok((base.clone(), head.clone()))
        }
        Err(problem) => Err(problem.to_string()),
    }
}

/// Puts work and claims of a task together.
fn pieces(
    repo: &Path,
    works: Vec<UnlandedWork>,
    mut claims: BTreeMap<TaskId, Task>,
    status: impl Fn(&Task) -> &'static str,
) -> Result<Vec<ConflictParty>, GitError> {
    let mut pieces = Vec::new();
    for UnlandedWork { listed, sides } in works {
        let run = listed.run;
        let task = claims.remove(&run.task);
        let files = match &sides {
            Some((base, head)) => git::touched_files(repo, base, head)?,
            None => git::ListedPaths::default(),
        };
        if sides.is_none() && task.is_none() {
            continue;
        }
        let has_more_files = files.total > files.listed.len() as u64;
        let state = listed.task_state.map_or("", TaskState::as_str);
        pieces.push(ConflictParty {
            side: ConflictSide {
                task: run.task,
                title: listed.title.map(String::from).unwrap_or_default(),
                status: task.as_ref().map_or(state, &status).to_owned(),
                branch: run.branch,
            },
            party: Party {
                id: run.task,
                scope: task.map_or_else(FileScope::default, |task| task.spec.scope),
                files: files.listed,
                has_more_files,
            },
            head: sides.map(|(_, head)| head),
        });
    }
    pieces.extend(claims.into_values().map(|task| claim(&task, &status)));
    Ok(pieces)
}

/// A task that has not begun.
fn claim(task: &Task, status: &impl Fn(&Task) -> &'static str) -> ConflictParty {
    let (scope, files) = (task.spec.scope.clone(), Vec::new());
    ConflictParty {
        party: Party { id: task.id, scope, files, has_more_files: false },
        side: ConflictSide {
            task: task.id,
            title: task.spec.title.to_string(),
            status: status(task).to_owned(),
            branch: task.spec.branch.as_ref().map(ToString::to_string),
        },
        head: None,
    }
}
