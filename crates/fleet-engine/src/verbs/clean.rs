mod makers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fleet_api::verbs::clean::{Answer, Request};
use fleet_api::views::{Kept, Leftover};
use fleet_core::id::ProjectId;
use fleet_core::task::TaskState;
use fleet_core::tidy::{self, BranchFacts, BranchWork, CleanReach, TidyDecision, TidyReason};
use fleet_host::git::{self, Branch, GitError, KeepCommits, Oid, StoredSnapshot};
use fleet_store::ops::ListedRun;

use self::makers::Makers;
use super::elsewhere::ThisPlace;
use super::lineage;
use super::prelude::*;
use super::project_git::ProjectGit;
use crate::engine::SelectionScope;
use crate::home::Home;
use crate::landing_status::LandingStatus;
use crate::sweep;

#[derive(Debug, Clone)]
pub(super) struct CleanPlan {
    pub(super) remove: Vec<CleanItem>,
    pub(super) keep: Vec<Kept>,
    pub(super) repo: PathBuf,
}

#[derive(Debug, Clone)]
pub(super) struct CleanItem {
    pub(super) shown: Leftover,
    tip: Option<Oid>,
    is_merged: bool,
    /// A branch that stays, because it was there before its task: only the folders go.
    pub(super) spared: Option<String>,
}

impl CleanPlan {
    fn of(repo: PathBuf) -> Self {
        Self { remove: Vec::new(), keep: Vec::new(), repo }
    }

    /// Leaves only what the user saw and approved. Callers that do not ask saw nothing.
    pub(super) fn confirm(&mut self, confirmed: Option<&[Leftover]>) {
        let Some(confirmed) = confirmed else { return };
        let is_known = |item: &CleanItem| confirmed.iter().any(|shown| shown.is_same(&item.shown));
        let (remove, changed): (Vec<_>, Vec<_>) = self.remove.drain(..).partition(is_known);
        self.remove = remove;
        self.keep.extend(changed.into_iter().map(|item| item.stays("it has changed since you confirmed")));
    }

    /// What it would do.
    pub(super) fn previewed(self) -> Answer {
        let removed = self.remove.into_iter().map(|item| item.shown).collect();
        Answer { dry_run: true, removed, kept: self.keep }
    }
}

impl CleanItem {
    fn stays(self, why: impl Into<String>) -> Kept {
        let Leftover { task, title, branch, .. } = self.shown;
        Kept { task, title, branch, why: why.into(), failed: true }
    }
}

/// At most this many runs of a project are considered, newest first.
const MAX_RUNS: i64 = 10_000;

const FINISHED: [TaskState; 3] = [TaskState::Done, TaskState::Failed, TaskState::Cancelled];

/// Removes what has landed, in the project of the directory or of the tasks that were named, or says what would go.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let reach = if request.all { CleanReach::All } else { CleanReach::Landed };
    let mut plan = match request.tasks.as_slice() {
        [] => plan_of_project(engine, reach).await?,
        named => plan_of_named(engine, named, reach).await?,
    };
    lineage::retain_own(engine, &mut plan.remove, |item| item.shown.task).await?;
    lineage::retain_own(engine, &mut plan.keep, |kept| kept.task).await?;
    if request.dry_run {
        return Ok(plan.previewed());
    }
    plan.confirm(request.confirmed.as_deref());
    remove_all(engine, plan).await
}

async fn plan_of_project(engine: &Engine, reach: CleanReach) -> Outcome<CleanPlan> {
    let mut plan = CleanPlan::of(PathBuf::from(engine.common_dir()?));
    if let Some(project) = engine.known_project().await? {
        look(engine, project.id, CleanWish { reach, named: &[] }, &mut plan).await?;
    }
    Ok(plan)
}

async fn plan_of_named(engine: &Engine, named: &[String], reach: CleanReach) -> Outcome<CleanPlan> {
    let tasks = engine.all_selected(named, &SelectionScope::of(&FINISHED, "finished")).await?;
    let followed = engine.call(ops::FollowTasks { ids: tasks.clone() }).await?;
    let projects: BTreeSet<ProjectId> = followed.iter().map(|one| one.task.project).collect();
    match projects.into_iter().collect::<Vec<_>>().as_slice() {
        [project] => plan_of_tasks(engine, *project, &tasks, CleanWish { reach, named }).await,
        _ => Err(Problem::new(Code::InvalidValue, "the tasks belong to several repositories")
            .hint("clean one repository at a time")),
    }
}

/// Looks at the runs of one task, of whatever project, and changes nothing.
pub(super) async fn plan_of(engine: &Engine, task: TaskId, reach: CleanReach) -> Outcome<CleanPlan> {
    let project = engine.call(ops::GetTask { id: task }).await?.task.project;
    plan_of_tasks(engine, project, &[task], CleanWish { reach, named: &[] }).await
}

/// What a clean-up is to remove.
#[derive(Clone, Copy)]
pub(super) struct CleanWish<'a> {
    pub(super) reach: CleanReach,
    /// What the user typed. A branch that was there before its task goes only if it is called by its name.
    pub(super) named: &'a [String],
}

/// Looks at the runs of some tasks of a project, and changes nothing.
pub(super) async fn plan_of_tasks(
    engine: &Engine,
    project: ProjectId,
    tasks: &[TaskId],
    wish: CleanWish<'_>,
) -> Outcome<CleanPlan> {
    let project = engine.project_here(project).await?;
    let mut plan = CleanPlan::of(PathBuf::from(&project.common_dir));
    // All of them are looked at: another task may have the same branch.
    look(engine, project.id, wish, &mut plan).await?;
    plan.remove.retain(|item| tasks.contains(&item.shown.task));
    plan.keep.retain(|kept| tasks.contains(&kept.task));
    Ok(plan)
}

async fn look(engine: &Engine, project: ProjectId, wish: CleanWish<'_>, plan: &mut CleanPlan) -> Outcome<()> {
    let filter = ops::RunFilter { project: Some(project), ..Default::default() };
    let runs = engine.call(ops::ListRuns { filter, limit: MAX_RUNS }).await?;
    let groups = groups(runs);
    let names: BTreeSet<String> = groups.iter().filter_map(|group| branch_of(group).cloned()).collect();
    let makers = Makers::of(engine, &groups).await?;
    let home = engine.home();
    let git = ProjectGit::at(engine, &plan.repo.to_string_lossy());
    let state = blocking(move || RepositoryState::look(&git, &names)).await?.map_err(problems::git)?;
    let here = ThisPlace::of(engine)?;
    for group in groups {
        let (branch, all) = (branch_of(&group), group.iter().collect::<Vec<_>>());
        // The branch is there, and the folders are. A branch of that name here is another one.
        if let Some(place) = group.iter().find_map(|row| here.place_of(&row.run)) {
            plan.keep.push(kept(branch, &group[0], place));
            continue;
        }
        let tasks = by_task(&all);
        let may_go = branch.is_some_and(|name| wish.named.contains(name)) || makers.made(&tasks, &state.last);
        let mut decide =
            |branch: Option<&String>, judged: &[&ListedRun], rows: &[&ListedRun]| match tidy::judge(
                &state.work(home, branch, judged),
                wish.reach,
            ) {
                TidyDecision::Keep(why) => plan.keep.push(kept(branch, rows[0], why.to_string())),
                TidyDecision::Remove(why) => {
                    plan.remove.extend(state.item((branch, rows), home, (&why, may_go)));
                }
            };
        let mut tasks = tasks.into_iter();
        // The branch is that of the newest task. Those before it had another one of that name, and have only folders.
        if let Some(newest) = tasks.next() {
            decide(branch, &all, &newest);
        }
        tasks.for_each(|rows| decide(None, &rows, &rows));
    }
    Ok(())
}

/// In the order of their newest runs.
fn by_task<'r>(rows: &[&'r ListedRun]) -> Vec<Vec<&'r ListedRun>> {
    let mut tasks: Vec<Vec<&ListedRun>> = Vec::new();
    for row in rows {
        match tasks.iter_mut().find(|task| task[0].run.task == row.run.task) {
            Some(task) => task.push(row),
            None => tasks.push(vec![row]),
        }
    }
    tasks
}

/// The branch of a group. A run that failed in preparation has none.
fn branch_of(group: &[ListedRun]) -> Option<&String> {
    group.iter().find_map(|row| row.run.branch.as_ref())
}

/// Runs of one branch belong together, with those of its tasks that have no branch; otherwise those of one task. The
/// newest first in each.
fn groups(runs: Vec<ListedRun>) -> Vec<Vec<ListedRun>> {
    let mut branches: BTreeMap<TaskId, String> = BTreeMap::new();
    for run in runs.iter().map(|row| &row.run) {
        if let Some(branch) = &run.branch {
            branches.entry(run.task).or_insert_with(|| branch.clone());
        }
    }
    let mut order: Vec<(Option<String>, Option<TaskId>)> = Vec::new();
    let mut groups: BTreeMap<(Option<String>, Option<TaskId>), Vec<ListedRun>> = BTreeMap::new();
    for row in runs {
        let branch = row.run.branch.as_ref().or_else(|| branches.get(&row.run.task)).cloned();
        let task = branch.is_none().then_some(row.run.task);
        let key = (branch, task);
        if !groups.contains_key(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(row);
    }
    order.into_iter().filter_map(|key| groups.remove(&key)).collect()
}

fn kept(branch: Option<&String>, row: &ListedRun, why: String) -> Kept {
    let title = row.title.as_ref().map(ToString::to_string);
    Kept { task: row.run.task, title, branch: branch.cloned(), why, failed: false }
}

/// The state of the repository.
struct RepositoryState {
    status: LandingStatus,
    last: BTreeMap<String, StoredSnapshot>,
}

impl RepositoryState {
    fn look(project: &ProjectGit, names: &BTreeSet<String>) -> Result<Self, GitError> {
        let ProjectGit { repo, vault } = project;
        let status = LandingStatus::look(repo, names)?;
        git::open_vault(repo, vault)?;
        let snapshots = git::list_snapshots(vault, None)?.into_iter();
        let last = snapshots.map(|snapshot| (snapshot.run.clone(), snapshot)).collect();
        Ok(Self { status, last })
    }

    fn work(&self, home: &Home, branch: Option<&String>, group: &[&ListedRun]) -> BranchWork {
        let is_live = |row: &ListedRun| row.run.state.is_live() || home.live_run(row.run.id).exists();
        let branch = branch.and_then(|name| self.status.branches.get(name));
        BranchWork {
            is_live: group.iter().any(|row| is_live(row)),
            tasks: group.iter().filter_map(|row| row.task_state).collect(),
            branch: branch.map(|branch| self.facts(branch, group)),
        }
    }

    fn facts(&self, branch: &Branch, group: &[&ListedRun]) -> BranchFacts {
        let began = |row: &ListedRun| row.run.base.as_deref() == Some(branch.commit.as_str());
        let left = |row: &ListedRun| {
            let snapshot = self.last.get(row.run.id.as_str());
            snapshot
                .is_some_and(|last| last.head.as_ref() == Some(&branch.commit) || last.tree == branch.tree)
        };
        BranchFacts {
            checked_out: branch.checked_out.as_ref().map(|place| place.display().to_string()),
            is_unchanged: group.iter().any(|row| began(row)),
            landed: self.status.landed(branch),
            is_as_left: group.iter().any(|row| left(row)),
        }
    }

    /// A branch, if there is one, and the folders of these runs of one task. `None` when nothing is left to remove.
    fn item(
        &self,
        (branch, rows): (Option<&String>, &[&ListedRun]),
        home: &Home,
        (why, may_go): (&TidyReason, bool),
    ) -> Option<CleanItem> {
        let newest = rows.first()?;
        let folders: Vec<RunId> =
            rows.iter().map(|row| row.run.id).filter(|run| home.run(*run).dir().exists()).collect();
        let there = branch.and_then(|name| self.status.branches.get(name));
        let branch = there.filter(|_| may_go);
        let spared = there.filter(|_| branch.is_none()).map(|branch| branch.name.clone());
        if branch.is_none() && folders.is_empty() {
            return None;
        }
        let is_merged = branch.is_some_and(|branch| self.status.is_merged(branch));
        let shown = Leftover {
            task: newest.run.task,
            title: newest.title.as_ref().map(ToString::to_string),
            branch: branch.map(|branch| branch.name.clone()),
            commit: branch.map(|branch| branch.commit.to_string()),
            why: match &spared {
                Some(name) => format!("{why}; the branch {name} stays: the task did not make it"),
                None => why.to_string(),
            },
            landed: *why != TidyReason::NotLanded,
            runs: if folders.is_empty() { vec![newest.run.id] } else { folders },
        };
        Some(CleanItem { shown, tip: branch.map(|branch| branch.commit.clone()), is_merged, spared })
    }
}

/// Removes what the plan says. A branch that has changed since then stays.
pub(super) async fn remove_all(engine: &Engine, plan: CleanPlan) -> Outcome<Answer> {
    let mut done = Answer { dry_run: false, removed: Vec::new(), kept: plan.keep };
    let home = engine.home();
    for item in plan.remove {
        let (git, home) = (ProjectGit::at(engine, &plan.repo.to_string_lossy()), home.clone());
        let (item, removed) = blocking(move || {
            let removed = remove(&git, &home, &item);
            (item, removed)
        })
        .await?;
        match removed {
            Ok(()) => done.removed.push(item.shown),
            Err(why) => done.kept.push(item.stays(why)),
        }
    }
    sweep::start(engine)?;
    Ok(done)
}

fn remove(git: &ProjectGit, home: &Home, item: &CleanItem) -> Result<(), String> {
    remove_branch(git, item)?;
    item.shown.runs.iter().try_for_each(|run| remove_folder(home, *run))
}

pub(super) fn remove_branch(project: &ProjectGit, item: &CleanItem) -> Result<(), String> {
    let ProjectGit { repo, vault } = project;
    let newest = item.shown.runs.iter().max();
    if let (Some(branch), Some(tip), Some(run)) = (&item.shown.branch, &item.tip, newest) {
        let commits = [(tip.clone(), "before it was cleaned up".to_owned())];
        let at_seconds = clock::now().0 / 1_000;
        let keep = KeepCommits { repo, vault, run: run.as_str(), commits: &commits, at_seconds };
        // What is merged is in the history; everything else can be brought back.
        if !item.is_merged {
            git::keep_commit(&keep).map_err(|error| error.to_string())?;
        }
        if !git::delete_branch(repo, branch, tip).map_err(|error| error.to_string())? {
            return Err("it has just moved".to_owned());
        }
    }
    Ok(())
}

pub(super) fn remove_folder(home: &Home, run: RunId) -> Result<(), String> {
    let folder = home.run(run);
    git::move_to_trash(&home.trash(), folder.dir())
        .map(drop)
        .map_err(|error| format!("{}: {error}", folder.dir().display()))
}

#[cfg(test)]
mod tests {
    use fleet_core::id::IdMaker;
    use fleet_core::time::Millis;

    use super::*;

    fn item(task: TaskId, commit: &str) -> CleanItem {
        let shown = Leftover {
            task,
            title: None,
            branch: Some("work".to_owned()),
            commit: Some(commit.to_owned()),
            why: "landed".to_owned(),
            landed: true,
            runs: Vec::new(),
        };
        CleanItem { shown, tip: None, is_merged: false, spared: None }
    }

    #[test]
    fn only_what_was_agreed_to_goes() {
        let task = IdMaker::default().next(Millis(1_800_000_000_000), 5);
        let plan =
            |commit: &str| CleanPlan { remove: vec![item(task, commit)], ..CleanPlan::of(PathBuf::new()) };
        let agreed = plan("a").previewed().removed;
        let mut moved = plan("b");
        moved.confirm(Some(&agreed));
        assert_eq!((moved.remove.len(), moved.keep.len(), moved.keep[0].failed), (0, 1, true));
        let mut same = plan("a");
        same.confirm(Some(&agreed));
        assert_eq!((same.remove.len(), same.keep.len()), (1, 0));
        let mut unasked = plan("b");
        unasked.confirm(None);
        assert_eq!(unasked.remove.len(), 1);
    }
}
