//! Brings work back from its snapshots: a list of them, and a branch from one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleet_core::id::{IdPrefix, ProjectId, RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_core::time::Millis;
use fleet_host::git::{self, GitError, Landing, Oid, StoredSnapshot};
use fleet_store::{StoreError, ops};
use serde::Serialize;

use super::elsewhere;
use super::project_git::ProjectGit;
use crate::keeper::blocking;
use crate::views::Moment;
use crate::{Engine, problems};

/// Which snapshots to list.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// Only those of this run, of the runs of this task, or of this branch; otherwise the last one of each run of the
    /// project.
    pub id: Option<String>,
    /// So many at most.
    pub limit: usize,
}

/// Some snapshots, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    /// The snapshots.
    pub snapshots: Vec<SnapshotView>,
    /// Whether there are more.
    pub more: bool,
}

/// A snapshot.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct SnapshotView {
    pub run: String,
    pub task: Option<TaskId>,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub number: u64,
    pub why: String,
    pub at: Moment,
    pub commit: String,
    pub files: Option<usize>,
    pub on_branch: bool,
}

/// What to bring back.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// A run, a task or a branch.
    pub id: String,
    /// The name of the branch to make, which must be free.
    pub branch: Option<String>,
    /// Which snapshot of the run; otherwise the last.
    pub snapshot: Option<u64>,
}

/// What was brought back.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Response {
    pub run: String,
    pub branch: String,
    pub commit: String,
    pub snapshot: u64,
    pub restored: bool,
}

/// The runs that somebody means, newest first, and where their repository is.
struct Meant {
    git: ProjectGit,
    runs: Vec<Known>,
}

/// What is known of a run.
#[derive(Debug, Clone)]
struct Known {
    run: String,
    task: Option<TaskId>,
    title: Option<String>,
    branch: Option<String>,
    base: Option<Oid>,
}

/// More attempts at one task than anybody makes.
const MOST_ATTEMPTS: i64 = 100;
/// After so many names that are taken, somebody should look.
const MOST_NAMES: usize = 100;

/// Lists snapshots.
pub async fn list(engine: &Engine, request: &ListRequest) -> Outcome<Listing> {
    let mut chosen: Vec<StoredSnapshot>;
    let project;
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    if let Some(id) = &request.id {
        let meant = meant(engine, id).await?;
        project = meant.git;
        chosen = project.snapshots().await?;
        known.extend(meant.runs.into_iter().map(|run| (run.run.clone(), run)));
        chosen.retain(|snapshot| known.contains_key(&snapshot.run));
    } else {
        project = ProjectGit::open(engine, &engine.common_dir()?).await?;
        let all = project.snapshots().await?;
        let last: BTreeMap<String, StoredSnapshot> =
            all.into_iter().map(|snapshot| (snapshot.run.clone(), snapshot)).collect();
        chosen = last.into_values().collect();
    }
    chosen.sort_by_key(|snapshot| Reverse((snapshot.at_seconds, snapshot.number)));
    let more = chosen.len() > request.limit;
    chosen.truncate(request.limit);
    for snapshot in &chosen {
        if !known.contains_key(&snapshot.run) {
            known.insert(snapshot.run.clone(), known_of(engine, &snapshot.run).await?);
        }
    }
    let shown =
        blocking(move || chosen.into_iter().map(|snapshot| view(&project, snapshot, &known)).collect());
    Ok(Listing { snapshots: shown.await?, more })
}

/// What is asked of git here is for people to see: an answer that does not come is left out.
fn view(project: &ProjectGit, snapshot: StoredSnapshot, known: &BTreeMap<String, Known>) -> SnapshotView {
    let run = known.get(&snapshot.run);
    let base = run.and_then(|run| run.base.clone()).or_else(|| snapshot.head.clone());
    let branch = run.and_then(|run| run.branch.clone());
    let on_branch = branch.as_ref().is_some_and(|branch| is_on(project, branch, &snapshot).unwrap_or(false));
    SnapshotView {
        task: run.and_then(|run| run.task),
        title: run.and_then(|run| run.title.clone()),
        branch,
        number: snapshot.number,
        why: snapshot.why,
        at: Moment(Millis(snapshot.at_seconds.saturating_mul(1_000))),
        commit: snapshot.commit.to_string(),
        files: base.and_then(|base| git::differing_files(&project.vault, &base, &snapshot.commit).ok()),
        on_branch,
        run: snapshot.run,
    }
}

/// Whether a branch has all of a snapshot.
fn is_on(project: &ProjectGit, branch: &str, snapshot: &StoredSnapshot) -> Result<bool, GitError> {
    let Some(tip) = git::branch_commit(&project.repo, branch)? else { return Ok(false) };
    let repo = &project.vault;
    let commit = content(repo, snapshot)?;
    if commit == tip {
        return Ok(true);
    }
    let trees = git::trees(repo, &BTreeSet::from([tip.clone()]))?;
    if !snapshot.has_more && trees.get(&tip) == Some(&snapshot.tree) {
        return Ok(true);
    }
    let tree = snapshot.tree.clone();
    let landing = Landing { name: branch.to_owned(), commit: tip, tree };
    Ok(git::not_landed(repo, &BTreeSet::from([commit]), &[landing])?.is_empty())
}

/// The commit that has all of a snapshot: that of the agent itself, if nothing was uncommitted.
fn content(repo: &Path, snapshot: &StoredSnapshot) -> Result<Oid, GitError> {
    let Some(head) = snapshot.head.as_ref().filter(|_| !snapshot.has_more) else {
        return Ok(snapshot.commit.clone());
    };
    let trees = git::trees(repo, &BTreeSet::from([head.clone()]))?;
    Ok(if trees.get(head) == Some(&snapshot.tree) { head.clone() } else { snapshot.commit.clone() })
}

/// Makes a branch from a snapshot. Never moves one that is there.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let Meant { git: project, runs } = meant(engine, &request.id).await?;
    let all = project.snapshots().await?;
    // An attempt that failed early has none; then the one before it is meant.
    let found = runs.iter().find_map(|run| {
        let mut of_run = all.iter().filter(|snapshot| snapshot.run == run.run).rev();
        let number = request.snapshot;
        Some((run, of_run.find(|snapshot| number.is_none_or(|number| snapshot.number == number))?))
    });
    let Some((run, snapshot)) = found else { return Err(none(&request, &runs)) };
    let (run, snapshot, wish) = (run.clone(), snapshot.clone(), request.branch);
    let made = blocking(move || restore(&project, &run, &snapshot, wish)).await?;
    made.map_err(|error| match error {
        GitError::BranchTaken { .. } => {
            problems::git(error).hint("choose another name, or none: then a free one is found")
        }
        error => problems::git(error),
    })
}

fn none(request: &Request, runs: &[Known]) -> Problem {
    let what = match (runs.first(), request.snapshot) {
        (Some(run), Some(number)) => format!("there is no snapshot {number} of run {}", run.run),
        (Some(run), None) => format!("there is no snapshot of run {}", run.run),
        (None, _) => format!("there is no snapshot of {:?}", escaped(&request.id)),
    };
    Problem::new(Code::SnapshotNotFound, what).hint("`fleet undo` lists the snapshots of this project")
}

fn restore(
    project: &ProjectGit,
    run: &Known,
    snapshot: &StoredSnapshot,
    wish: Option<String>,
) -> Result<Response, GitError> {
    let commit = content(&project.vault, snapshot)?;
    let both = (project.repo.as_path(), project.vault.as_path());
    let answer = |branch: String, restored| Response {
        run: run.run.clone(),
        branch,
        commit: commit.to_string(),
        snapshot: snapshot.number,
        restored,
    };
    if let Some(name) = wish {
        git::restore_branch(both, &commit, &name)?;
        return Ok(answer(name, true));
    }
    let own = run.branch.clone().unwrap_or_else(|| format!("fleet/{}", run.run));
    if is_on(project, &own, snapshot)? {
        return Ok(answer(own, false));
    }
    let mut refusal = None;
    for name in names(&own) {
        match git::restore_branch(both, &commit, &name) {
            Ok(()) => return Ok(answer(name, true)),
            Err(error @ GitError::BranchTaken { .. }) => refusal = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(refusal.unwrap_or_else(|| GitError::Refused("there is no free name".to_owned())))
}

/// The name itself, then others like it. The last ones are in no folder: a branch may have the name of that.
fn names(own: &str) -> impl Iterator<Item = String> {
    let more = (2..=MOST_NAMES).map(|number| format!("-restored-{number}"));
    let ends: Vec<String> = [String::new(), "-restored".to_owned()].into_iter().chain(more).collect();
    let flat = own.replace('/', "-");
    let flat = flat.as_str();
    let all = [own, flat].into_iter().flat_map(|name| ends.iter().map(move |end| format!("{name}{end}")));
    all.collect::<Vec<_>>().into_iter()
}

/// The runs that somebody means: one by its id, all of a task or a branch, or one that only the snapshots know.
async fn meant(engine: &Engine, id: &str) -> Outcome<Meant> {
    let project = match engine.repository() {
        Ok(_) => engine.known_project().await?.map(|project| project.id),
        Err(_) => None,
    };
    let resolve = ops::ResolveRun { typed: id.to_owned(), project };
    let run = match engine.store().await?.call(resolve).await {
        Ok(run) => run,
        Err(StoreError::RunNotFound(_)) => return unknown(engine, id, project).await,
        Err(error) => return Err(problems::store(error)),
    };
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let git = ProjectGit::of(engine, &detail.project).await?;
    let prefix = IdPrefix::<RunId>::parse(id).ok();
    let is_one = prefix.is_some_and(|prefix| run.as_str().starts_with(prefix.as_str()));
    let filter = ops::RunFilter { task: Some(detail.run.task), ..Default::default() };
    let all = engine.call(ops::ListRuns { filter, limit: MOST_ATTEMPTS }).await?;
    // Attempts that were made elsewhere left nothing here.
    let is_meant = |row: &ops::ListedRun| row.run.place == detail.run.place && (!is_one || row.run.id == run);
    let runs = all.into_iter().filter(is_meant).map(|row| Known {
        run: row.run.id.to_string(),
        task: Some(row.run.task),
        title: row.title.map(|title| title.to_string()),
        branch: row.run.branch,
        base: row.run.base.as_deref().and_then(|base| Oid::parse(base).ok()),
    });
    Ok(Meant { git, runs: runs.collect() })
}

/// A run that the store does not know, because that is another one now: its snapshots are in the repository.
async fn unknown(engine: &Engine, id: &str, project: Option<ProjectId>) -> Outcome<Meant> {
    let Ok(common_dir) = engine.common_dir() else { return Err(not_found(engine, id, project).await) };
    let git = ProjectGit::open(engine, &common_dir).await?;
    let typed = id.to_ascii_lowercase();
    let all = git.snapshots().await?;
    let fits = |snapshot: &StoredSnapshot| typed.len() >= 4 && snapshot.run.starts_with(&typed);
    let runs: BTreeSet<String> = all.into_iter().filter(fits).map(|snapshot| snapshot.run).collect();
    match runs.into_iter().collect::<Vec<_>>().as_slice() {
        [] => Err(not_found(engine, id, project).await),
        [run] => Ok(Meant { git, runs: vec![known_of(engine, run).await?] }),
        several => {
            let matches = several.iter().take(5).cloned().collect();
            Err(problems::store(StoreError::Ambiguous { prefix: typed, matches }))
        }
    }
}

/// Perhaps there is a task, and it has no run because nobody ever started it.
async fn not_found(engine: &Engine, id: &str, project: Option<ProjectId>) -> Problem {
    let by_branch = engine.task_of_branch(project, id).await.ok().flatten();
    let task = match by_branch {
        Some(task) => Some(task),
        None => engine.task_id(id).await.ok(),
    };
    let problem = match task {
        Some(task) => {
            let message = format!("task {task} was never started: there was nothing to keep");
            Problem::new(Code::RunNotFound, message)
        }
        None => problems::store(StoreError::RunNotFound(escaped(id).into_owned())),
    };
    problem.hint("`fleet undo` lists the snapshots of this project")
}

async fn known_of(engine: &Engine, run: &str) -> Outcome<Known> {
    let nothing = Known { run: run.to_owned(), task: None, title: None, branch: None, base: None };
    let Ok(id) = run.parse::<RunId>() else { return Ok(nothing) };
    match engine.call(ops::GetRun { run: id }).await {
        Ok(detail) => Ok(Known {
            task: Some(detail.run.task),
            title: detail.task.map(|task| task.spec.title.to_string()),
            branch: detail.run.branch,
            base: detail.run.base.as_deref().and_then(|base| Oid::parse(base).ok()),
            ..nothing
        }),
        Err(problem) if problem.code == Code::RunNotFound => Ok(nothing),
        Err(problem) => Err(problem),
    }
}
