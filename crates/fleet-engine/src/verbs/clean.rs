//! Removes the branches and folders of runs whose work has landed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fleet_core::id::{ProjectId, RunId, TaskId};
use fleet_core::problem::Outcome;
use fleet_core::tidy::{self, BranchFacts, Reach, Verdict, Why, Work};
use fleet_host::git::{self, Branch, GitError, KeepCommits, Oid, StoredSnapshot};
use fleet_store::ops::{self, ListedRun};
use serde::Serialize;

use super::elsewhere::Here;
use super::lineage;
use super::project_git::ProjectGit;
use crate::home::Home;
use crate::keeper::blocking;
use crate::lie::Lie;
use crate::{Engine, clock, problems, sweep};

/// What may go, and what stays.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// What may go.
    pub remove: Vec<Item>,
    /// What stays, and why.
    pub keep: Vec<Kept>,
    /// Whether there are more runs than were looked at.
    pub more: bool,
    #[serde(skip)]
    pub(super) repo: PathBuf,
}

/// Something that may go.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Item {
    pub task: TaskId,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub why: String,
    pub landed: bool,
    pub runs: Vec<RunId>,
    #[serde(skip)]
    tip: Option<Oid>,
    #[serde(skip)]
    is_merged: bool,
}

/// Something that stays.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Kept {
    pub task: TaskId,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub why: String,
    /// Whether it was to go, and that failed.
    #[serde(skip)]
    pub failed: bool,
}

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// What is gone.
    pub removed: Vec<Item>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
}

/// So many runs of a project are looked at, the newest first.
const MOST: i64 = 10_000;

/// Looks at the runs of the project, and changes nothing.
pub async fn plan(engine: &Engine, reach: Reach) -> Outcome<Plan> {
    let repo = PathBuf::from(engine.common_dir()?);
    let mut plan = Plan { remove: Vec::new(), keep: Vec::new(), more: false, repo };
    let Some(project) = engine.known_project().await? else { return Ok(plan) };
    look(engine, project.id, reach, &mut plan).await?;
    Ok(plan)
}

/// Looks at the runs of one task, of whatever project, and changes nothing.
pub(super) async fn plan_of(engine: &Engine, task: TaskId, reach: Reach) -> Outcome<Plan> {
    let project = engine.call(ops::GetTask { id: task }).await?.task.project;
    plan_of_tasks(engine, project, &[task], reach).await
}

/// Looks at the runs of some tasks of a project, and changes nothing.
pub(super) async fn plan_of_tasks(
    engine: &Engine,
    project: ProjectId,
    tasks: &[TaskId],
    reach: Reach,
) -> Outcome<Plan> {
    let project = engine.project_here(project).await?;
    let repo = PathBuf::from(&project.common_dir);
    let mut plan = Plan { remove: Vec::new(), keep: Vec::new(), more: false, repo };
    // All of them are looked at: another task may have the same branch.
    look(engine, project.id, reach, &mut plan).await?;
    plan.remove.retain(|item| tasks.contains(&item.task));
    plan.keep.retain(|kept| tasks.contains(&kept.task));
    Ok(plan)
}

async fn look(engine: &Engine, project: ProjectId, reach: Reach, plan: &mut Plan) -> Outcome<()> {
    let filter = ops::RunFilter { project: Some(project), ..Default::default() };
    let runs = engine.call(ops::ListRuns { filter, limit: MOST }).await?;
    plan.more = i64::try_from(runs.len()).is_ok_and(|count| count >= MOST);
    let groups = groups(runs);
    let names: BTreeSet<String> = groups.iter().filter_map(|group| group[0].run.branch.clone()).collect();
    let home = Home::new(engine.home());
    let git = ProjectGit::at(engine, &plan.repo.to_string_lossy());
    let scene = blocking(move || Scene::look(&git, &names)).await?.map_err(problems::git)?;
    let here = Here::of(engine)?;
    for group in groups {
        // The branch is there, and the folders are. What has the name of the branch here is somebody else's.
        if let Some(place) = group.iter().find_map(|row| here.place_of(&row.run)) {
            plan.keep.push(kept(&group[0], place));
            continue;
        }
        let work = scene.work(&home, &group);
        let folders =
            group.iter().map(|row| row.run.id).filter(|run| home.run(*run).dir().exists()).collect();
        match tidy::judge(&work, reach) {
            Verdict::Keep(why) => plan.keep.push(kept(&group[0], why.to_string())),
            Verdict::Remove(why) => plan.remove.extend(scene.item(&group[0], folders, &why)),
        }
    }
    Ok(())
}

/// Runs of one branch belong together; those without one, by their task. The newest first in each.
fn groups(runs: Vec<ListedRun>) -> Vec<Vec<ListedRun>> {
    let mut order: Vec<(Option<String>, Option<TaskId>)> = Vec::new();
    let mut groups: BTreeMap<(Option<String>, Option<TaskId>), Vec<ListedRun>> = BTreeMap::new();
    for row in runs {
        let key = (row.run.branch.clone(), row.run.branch.is_none().then_some(row.run.task));
        if !groups.contains_key(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(row);
    }
    order.into_iter().filter_map(|key| groups.remove(&key)).collect()
}

fn kept(row: &ListedRun, why: String) -> Kept {
    let title = row.title.as_ref().map(ToString::to_string);
    Kept { task: row.run.task, title, branch: row.run.branch.clone(), why, failed: false }
}

/// How the repository is.
struct Scene {
    lie: Lie,
    last: BTreeMap<String, StoredSnapshot>,
}

impl Scene {
    fn look(project: &ProjectGit, names: &BTreeSet<String>) -> Result<Self, GitError> {
        let ProjectGit { repo, vault } = project;
        let lie = Lie::look(repo, names)?;
        git::open_vault(repo, vault)?;
        let snapshots = git::list_snapshots(vault, None)?.into_iter();
        let last = snapshots.map(|snapshot| (snapshot.run.clone(), snapshot)).collect();
        Ok(Self { lie, last })
    }

    fn work(&self, home: &Home, group: &[ListedRun]) -> Work {
        let is_live = |row: &ListedRun| row.run.state.is_live() || home.live_run(row.run.id).exists();
        let branch = group[0].run.branch.as_ref().and_then(|name| self.lie.branches.get(name));
        Work {
            is_live: group.iter().any(is_live),
            tasks: group.iter().filter_map(|row| row.task_state).collect(),
            branch: branch.map(|branch| self.facts(branch, group)),
        }
    }

    fn facts(&self, branch: &Branch, group: &[ListedRun]) -> BranchFacts {
        let began = |row: &ListedRun| row.run.base.as_deref() == Some(branch.commit.as_str());
        let left = |row: &ListedRun| {
            let snapshot = self.last.get(row.run.id.as_str());
            snapshot
                .is_some_and(|last| last.head.as_ref() == Some(&branch.commit) || last.tree == branch.tree)
        };
        BranchFacts {
            checked_out: branch.checked_out.as_ref().map(|place| place.display().to_string()),
            is_unchanged: group.iter().any(began),
            landed: self.lie.landed(branch),
            is_as_left: group.iter().any(left),
        }
    }

    /// `None` when nothing is left to remove.
    fn item(&self, newest: &ListedRun, folders: Vec<RunId>, why: &Why) -> Option<Item> {
        let branch = newest.run.branch.as_ref().and_then(|name| self.lie.branches.get(name));
        if branch.is_none() && folders.is_empty() {
            return None;
        }
        let is_merged = branch.is_some_and(|branch| self.lie.is_merged(branch));
        Some(Item {
            task: newest.run.task,
            title: newest.title.as_ref().map(ToString::to_string),
            branch: branch.map(|branch| branch.name.clone()),
            why: why.to_string(),
            landed: *why != Why::NotLanded,
            runs: if folders.is_empty() { vec![newest.run.id] } else { folders },
            tip: branch.map(|branch| branch.commit.clone()),
            is_merged,
        })
    }
}

/// Removes what the plan says. A branch that has changed since then stays.
pub async fn run(engine: &Engine, plan: Plan) -> Outcome<Response> {
    lineage::check_all(engine, plan.remove.iter().map(|item| item.task)).await?;
    remove_all(engine, plan).await
}

/// The same, for those who have asked whose it is.
pub(super) async fn remove_all(engine: &Engine, plan: Plan) -> Outcome<Response> {
    let mut response = Response { removed: Vec::new(), kept: plan.keep };
    let home = Home::new(engine.home());
    for item in plan.remove {
        let (git, home) = (ProjectGit::at(engine, &plan.repo.to_string_lossy()), home.clone());
        let (item, done) = blocking(move || {
            let done = remove(&git, &home, &item);
            (item, done)
        })
        .await?;
        match done {
            Ok(()) => response.removed.push(item),
            Err(why) => {
                let Item { task, title, branch, .. } = item;
                response.kept.push(Kept { task, title, branch, why, failed: true });
            }
        }
    }
    sweep::start(engine)?;
    Ok(response)
}

fn remove(git: &ProjectGit, home: &Home, item: &Item) -> Result<(), String> {
    remove_branch(git, item)?;
    item.runs.iter().try_for_each(|run| remove_folder(home, *run))
}

/// Removes the branch, if there is one.
pub(super) fn remove_branch(project: &ProjectGit, item: &Item) -> Result<(), String> {
    let ProjectGit { repo, vault } = project;
    let newest = item.runs.iter().max();
    if let (Some(branch), Some(tip), Some(run)) = (&item.branch, &item.tip, newest) {
        let commits = [(tip.clone(), "before it was cleaned up".to_owned())];
        let at_seconds = clock::now().0 / 1_000;
        let keep = KeepCommits { repo, vault, run: run.as_str(), commits: &commits, at_seconds };
        // What is merged is in the history; everything else can be brought back.
        if !item.is_merged {
            git::keep_commit(&keep).map_err(|error| error.to_string())?;
        }
        if !git::delete_branch(repo, branch, tip).map_err(|error| error.to_string())? {
            return Err("somebody moved it just now".to_owned());
        }
    }
    Ok(())
}

/// Removes what is kept of a run on this machine.
pub(super) fn remove_folder(home: &Home, run: RunId) -> Result<(), String> {
    let folder = home.run(run);
    git::move_to_trash(&home.trash(), folder.dir())
        .map(drop)
        .map_err(|error| format!("{}: {error}", folder.dir().display()))
}
