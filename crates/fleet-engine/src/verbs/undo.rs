use std::collections::BTreeSet;
use std::path::Path;

use fleet_api::verbs::undo::{Answer, Request};
use fleet_core::id::{IdPrefix, IdSuffix};
use fleet_core::refname::check_branch_name;
use fleet_core::text::escaped;
use fleet_host::git::{self, GitError, LandingTarget, Oid, StoredSnapshot};

use super::elsewhere;
use super::prelude::*;
use super::project_git::ProjectGit;

/// The runs that the user means, newest first, and where their repository is.
pub(super) struct SelectedRuns {
    pub(super) git: ProjectGit,
    pub(super) runs: Vec<KnownRun>,
}

#[derive(Debug, Clone)]
pub(super) struct KnownRun {
    pub(super) run: String,
    pub(super) task: Option<TaskId>,
    pub(super) title: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) base: Option<Oid>,
}
/// After this many names that are taken, the user has to choose one.
const MAX_NAMES: usize = 100;

pub(super) fn is_on(project: &ProjectGit, branch: &str, snapshot: &StoredSnapshot) -> Result<bool, GitError> {
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
    let landing = LandingTarget { name: branch.to_owned(), commit: tip, tree };
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
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let SelectedRuns { git: project, runs } = meant(engine, &request.id).await?;
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
            problems::git(error).hint("choose another name, or leave it out to use a free one")
        }
        error => problems::git(error),
    })
}

fn none(request: &Request, runs: &[KnownRun]) -> Problem {
    let what = match (runs.first(), request.snapshot) {
        (Some(run), Some(number)) => format!("run {} has no snapshot {number}", run.run),
        (Some(run), None) => format!("run {} has no snapshot", run.run),
        (None, _) => format!("there is no snapshot of {:?}", escaped(&request.id)),
    };
    Problem::new(Code::SnapshotNotFound, what).hint("`fleet undo` lists the snapshots of this project")
}

fn restore(
    project: &ProjectGit,
    run: &KnownRun,
    snapshot: &StoredSnapshot,
    wish: Option<String>,
) -> Result<Answer, GitError> {
    let commit = content(&project.vault, snapshot)?;
    let both = (project.repo.as_path(), project.vault.as_path());
    let answer = |branch: String, restored| Answer {
        run: run.run.clone(),
        branch,
        commit: commit.to_string(),
        snapshot: snapshot.number,
        restored,
    };
    if let Some(name) = wish {
        check_branch_name(&name).map_err(|error| GitError::Refused(error.to_string()))?;
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
    let more = (2..=MAX_NAMES).map(|number| format!("-restored-{number}"));
    let ends: Vec<String> = [String::new(), "-restored".to_owned()].into_iter().chain(more).collect();
    let flat = own.replace('/', "-");
    let flat = flat.as_str();
    let all = [own, flat].into_iter().flat_map(|name| ends.iter().map(move |end| format!("{name}{end}")));
    all.collect::<Vec<_>>().into_iter()
}

/// The runs that the user means: one by its id, all of a task or a branch, or one that only the snapshots know.
pub(super) async fn meant(engine: &Engine, id: &str) -> Outcome<SelectedRuns> {
    let run = match engine.run_id(id).await {
        Ok(run) => run,
        Err(problem) if problem.code == Code::RunNotFound => return unknown(engine, id).await,
        Err(problem) => return Err(problem),
    };
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let git = ProjectGit::of(engine, &detail.project).await?;
    let prefix = IdPrefix::<RunId>::parse(id).ok();
    let suffix = IdSuffix::parse(id);
    let is_one = prefix.is_some_and(|prefix| run.as_str().starts_with(prefix.as_str()))
        || suffix.is_some_and(|suffix| run.as_str().ends_with(suffix.as_str()));
    let all = engine.call(ops::ListRuns::of_task(detail.run.task)).await?;
    // Attempts that were made elsewhere left nothing here.
    let is_meant = |row: &ops::ListedRun| row.run.place == detail.run.place && (!is_one || row.run.id == run);
    let runs = all.into_iter().filter(is_meant).map(|row| KnownRun {
        run: row.run.id.to_string(),
        task: Some(row.run.task),
        title: row.title.map(|title| title.to_string()),
        branch: row.run.branch,
        base: row.run.base.as_deref().and_then(|base| Oid::parse(base).ok()),
    });
    Ok(SelectedRuns { git, runs: runs.collect() })
}

/// A run that the store does not know, because that is another one now: its snapshots are in the repository.
async fn unknown(engine: &Engine, id: &str) -> Outcome<SelectedRuns> {
    let Ok(common_dir) = engine.common_dir() else { return Err(not_found(engine, id).await) };
    let git = ProjectGit::open(engine, &common_dir).await?;
    let typed = id.to_ascii_lowercase();
    let all = git.snapshots().await?;
    let fits = |snapshot: &StoredSnapshot| typed.len() >= 4 && snapshot.run.starts_with(&typed);
    let runs: BTreeSet<String> = all.into_iter().filter(fits).map(|snapshot| snapshot.run).collect();
    match runs.into_iter().collect::<Vec<_>>().as_slice() {
        [] => Err(not_found(engine, id).await),
        [run] => Ok(SelectedRuns { git, runs: vec![known_of(engine, run).await?] }),
        several => {
            let matches = several.iter().take(5).cloned().collect();
            Err(problems::store(StoreError::Ambiguous { prefix: typed, matches }))
        }
    }
}

/// Perhaps there is a task without a run, because it never started.
async fn not_found(engine: &Engine, id: &str) -> Problem {
    let problem = match engine.task_id(id).await {
        Ok(task) => {
            let message = format!("task {task} was never started: it has no snapshots");
            Problem::new(Code::RunNotFound, message)
        }
        Err(_) => engine.no_run(id).await,
    };
    problem.hint("`fleet undo` lists the snapshots of this project")
}

pub(super) async fn known_of(engine: &Engine, run: &str) -> Outcome<KnownRun> {
    let nothing = KnownRun { run: run.to_owned(), task: None, title: None, branch: None, base: None };
    let Ok(id) = run.parse::<RunId>() else { return Ok(nothing) };
    match engine.call(ops::GetRun { run: id }).await {
        Ok(detail) => Ok(KnownRun {
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
