mod page;

use std::collections::BTreeSet;
use std::path::PathBuf;

use fleet_api::verbs::compare::{Between, Totals};
use fleet_api::verbs::run_diff::{
    Answer, ChangedFile, CommitView, DiffSide, Request, SnapshotChoice, Summary,
};
use fleet_core::outcome::RunResult;
use fleet_host::git::{self, Changes, FileStatus, Oid, TakeSnapshot};
use fleet_store::ops::RunDetail;

use self::page::Cursor;
use super::elsewhere;
use super::prelude::*;
use super::project_git::ProjectGit;
use crate::keeper::checkout;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.run_id(&request.id).await?;
    if let Some(after) = &request.after {
        let cursor: Cursor = after.parse()?;
        let detail = engine.call(ops::GetRun { run: id }).await?;
        elsewhere::refuse(engine, &detail.run)?;
        let vault = ProjectGit::of(engine, &detail.project).await?.vault;
        return blocking(move || page::read(&vault, &cursor, &request)).await?;
    }
    let found = find(engine, id, request.snapshot).await?;
    blocking(move || {
        let summary = if request.summary { Some(found.summary()?) } else { None };
        let page = page::read(&found.repo, &found.cursor(), &request)?;
        Ok(Answer { of: Some(found.of), summary, ..page })
    })
    .await?
}

#[derive(Debug, Clone)]
pub(super) struct RunComparison {
    repo: PathBuf,
    base: Oid,
    head: Oid,
    /// The last commit of the agent's own, where `head` was made only to be kept or compared.
    tip: Option<Oid>,
    run: RunId,
    branch: Option<String>,
    of: DiffSide,
}

pub(super) async fn find(
    engine: &Engine,
    id: RunId,
    which: Option<SnapshotChoice>,
) -> Outcome<RunComparison> {
    let detail = engine.call(ops::GetRun { run: id }).await?;
    let run = &detail.run;
    elsewhere::refuse(engine, run)?;
    let base = run.base.as_deref().and_then(|base| Oid::parse(base).ok()).ok_or_else(|| no_workspace(run))?;
    let project = ProjectGit::of(engine, &detail.project).await?;
    let FoundWork { head, tip, of } = match which {
        Some(which) => snapshot(&project, id, which).await?,
        None if run.state.is_live() => workspace(engine, &detail).await?,
        None => ended(&project, &detail).await?,
    };
    Ok(RunComparison { repo: project.vault, base, head, tip, run: id, branch: run.branch.clone(), of })
}

struct FoundWork {
    head: Oid,
    tip: Option<Oid>,
    of: DiffSide,
}

fn no_workspace(run: &Run) -> Problem {
    let when = if run.state.is_live() { "has no workspace yet" } else { "never had a workspace" };
    Problem::new(Code::NotHere, format!("run {} {when}: there is nothing to compare", run.id))
        .hint(format!("`fleet show {}` shows its state", run.id))
}

/// The files as they are now, what is not committed included.
async fn workspace(engine: &Engine, detail: &RunDetail) -> Outcome<FoundWork> {
    let run = detail.run.id;
    let home = engine.home();
    let config = engine.at(checkout(&detail.project)).and_then(|here| here.config().cloned());
    let area = home.area(&detail.project, &config.or_else(|_| engine.config().cloned())?);
    let looked = blocking(move || -> Result<Option<FoundWork>, Problem> {
        let owner = run.to_string();
        let look = || area.look(&owner).map_err(|error| Problem::new(Code::Io, error.to_string()));
        let Some(seen) = look()? else { return Ok(None) };
        let take = TakeSnapshot {
            checkout: &seen.checkout,
            run: &owner,
            why: "looked at",
            at_seconds: clock::now().0 / 1_000,
            exclude: &seen.private,
            max_file: None,
            staged: None,
        };
        let (head, tip) = git::unnamed_snapshot(&take).map_err(problems::git)?;
        // It may have ended meanwhile: what was seen are then perhaps the files of another run.
        Ok(look()?.filter(|again| again.checkout == seen.checkout).map(|_| FoundWork {
            head,
            tip,
            of: DiffSide::Workspace,
        }))
    });
    if let Some(found) = looked.await?? {
        return Ok(found);
    }
    let again = engine.call(ops::GetRun { run }).await?;
    if again.run.state.is_live() {
        return Err(Problem::new(
            Code::NotHere,
            format!("the workspace of run {run} is not on this machine"),
        )
        .hint(format!("it runs in another place; `fleet show {run}` shows its state")));
    }
    ended(&ProjectGit::of(engine, &again.project).await?, &again).await
}

fn has_done_nothing(detail: &RunDetail) -> bool {
    let result = detail.result.as_deref().and_then(|text| serde_json::from_str::<RunResult>(text).ok());
    result.is_some_and(|result| result.files == 0 && result.commit_count == 0)
}

/// The branch; or, if that is gone or has moved on with a later attempt, what was kept at the end.
async fn ended(project: &ProjectGit, detail: &RunDetail) -> Outcome<FoundWork> {
    let run = &detail.run;
    let is_newest = detail.task.as_ref().is_none_or(|task| task.history.attempts == run.attempt);
    let (place, name) = (project.repo.clone(), run.branch.clone());
    let tip = match name.filter(|_| is_newest && project.repo.exists()) {
        Some(name) => blocking(move || git::branch_commit(&place, &name)).await?.map_err(problems::git)?,
        None => None,
    };
    if let Some(tip) = tip {
        return Ok(FoundWork { head: tip.clone(), tip: Some(tip), of: DiffSide::Branch });
    }
    // A branch on which nothing was done is removed at the end.
    if let (true, Some(base)) =
        (has_done_nothing(detail), run.base.as_deref().and_then(|base| Oid::parse(base).ok()))
    {
        return Ok(FoundWork { head: base.clone(), tip: Some(base), of: DiffSide::Branch });
    }
    snapshot(project, run.id, SnapshotChoice::Newest).await.map_err(|problem| match problem.code {
        Code::SnapshotNotFound => {
            let branch = run.branch.as_deref().unwrap_or_default();
            Problem::new(
                Code::NotHere,
                format!("the branch {branch:?} of run {} is gone, and so are its snapshots", run.id),
            )
            .hint("`git reflog` may still have its commits")
        }
        _ => problem,
    })
}

async fn snapshot(project: &ProjectGit, run: RunId, which: SnapshotChoice) -> Outcome<FoundWork> {
    let vault = project.vault.clone();
    let listed = blocking(move || git::list_snapshots(&vault, Some(&run.to_string())))
        .await?
        .map_err(problems::git)?;
    let numbers: Vec<String> = listed.iter().map(|snapshot| snapshot.number.to_string()).collect();
    let found = match which {
        SnapshotChoice::Newest => listed.into_iter().next_back(),
        SnapshotChoice::Number(number) => listed.into_iter().find(|snapshot| snapshot.number == number),
    };
    let side = |snapshot: git::StoredSnapshot| FoundWork {
        head: snapshot.commit,
        tip: snapshot.head,
        of: DiffSide::Snapshot(snapshot.ref_name),
    };
    found
        .map(side)
        .ok_or_else(|| match which {
            SnapshotChoice::Number(number) if !numbers.is_empty() => Problem::new(
                Code::SnapshotNotFound,
                format!("run {run} has no snapshot {number}, only {}", numbers.join(", ")),
            ),
            _ => Problem::new(Code::SnapshotNotFound, format!("run {run} has no snapshot")),
        })
        .map_err(|problem| problem.hint(format!("`fleet undo {run} --list` lists its snapshots")))
}

impl RunComparison {
    fn cursor(&self) -> Cursor {
        Cursor { base: self.base.clone(), head: self.head.clone(), skip: 0 }
    }

    /// What the work began with, and what it is now.
    pub(super) const fn sides(&self) -> (&Oid, &Oid) {
        (&self.base, &self.head)
    }

    /// In numbers alone.
    pub(super) fn totals(&self) -> Outcome<Totals> {
        let Summary { commit_count, file_count, added, deleted, .. } = self.summary()?;
        Ok(Totals { commits: commit_count, files: file_count, added, deleted })
    }

    /// From this work to that of another run, wherever both began. Nothing if they are of different repositories. Blocks.
    pub(super) fn between(&self, other: &Self) -> Outcome<Option<Between>> {
        if self.repo != other.repo {
            return Ok(None);
        }
        let commits = BTreeSet::from([self.head.clone(), other.head.clone()]);
        // As trees: commits would be compared from where their histories part.
        let trees = git::trees(&self.repo, &commits).map_err(problems::git)?;
        let (Some(base), Some(head)) = (trees.get(&self.head), trees.get(&other.head)) else {
            return Ok(None);
        };
        let files = git::differing_files(&self.repo, base, head).map_err(problems::git)?;
        let diff = Cursor { base: base.clone(), head: head.clone(), skip: 0 }.text();
        Ok(Some(Between { files, diff }))
    }

    fn summary(&self) -> Outcome<Summary> {
        let changes = |head| git::changes(&self.repo, &self.base, head).map_err(problems::git);
        let Changes { files, files_total, added, deleted, base, mut commits, mut commits_total, .. } =
            changes(&self.head)?;
        if self.tip.as_ref() != Some(&self.head) {
            (commits, commits_total) = match &self.tip {
                Some(tip) => changes(tip).map(|own| (own.commits, own.commits_total))?,
                None => (Vec::new(), 0),
            };
        }
        let (of, snapshot) = match &self.of {
            DiffSide::Branch => ("branch", None),
            DiffSide::Workspace => ("workspace", None),
            DiffSide::Snapshot(name) => ("snapshot", Some(name.clone())),
        };
        Ok(Summary {
            run: self.run,
            branch: self.branch.clone(),
            base: base.to_string(),
            of: of.to_owned(),
            snapshot,
            commits: commits.into_iter().map(commit).collect(),
            commit_count: commits_total,
            files: files.iter().map(file).collect(),
            file_count: files_total,
            added,
            deleted,
        })
    }
}

fn commit(commit: git::CommitLine) -> CommitView {
    CommitView { id: commit.oid.to_string(), subject: commit.subject }
}

fn file(file: &git::FileChange) -> ChangedFile {
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    ChangedFile {
        status: match file.status {
            FileStatus::Added => "added",
            FileStatus::Modified => "modified",
            FileStatus::Deleted => "deleted",
            FileStatus::Renamed => "renamed",
            FileStatus::Copied => "copied",
            FileStatus::TypeChanged => "type_changed",
        }
        .to_owned(),
        path: text(&file.path),
        old_path: file.old_path.as_deref().map(text),
        added: file.added,
        deleted: file.deleted,
    }
}
