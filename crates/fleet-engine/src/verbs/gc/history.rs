//! What is kept of runs that ended long ago: their logs, their snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fleet_api::verbs::gc::{GcItem, GcKind};
use fleet_core::tidy::{self, SnapshotFacts};
use fleet_host::git::{self, GitError, LandingTarget, Oid, StoredSnapshot};

use super::find::names;
use super::{GcAction, GcSearch, Removable};
use crate::verbs::prelude::*;
use crate::verbs::project_git::ProjectGit;

pub(super) async fn logs(engine: &Engine, search: GcSearch) -> Outcome<Vec<Removable>> {
    let home = engine.home();
    let mut items = Vec::new();
    for path in names(&home.runs())? {
        let id = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<RunId>().ok());
        let Some(id) = id.filter(|_| is_untouched(&path, search)) else { continue };
        if home.live_run(id).exists() || !is_old(engine, id, search).await? {
            continue;
        }
        let (what, why) = (path.display().to_string(), "its run ended long ago".to_owned());
        let bytes = blocking(move || search.bytes(&path)).await?;
        let item = GcItem { kind: GcKind::Logs, what, why, count: 1, bytes };
        items.push(Removable { item, action: GcAction::Folder(id) });
    }
    Ok(items)
}

/// Whether a folder has not changed for long; the store need not be asked about the others. A clock that was wrong at
/// one time must not make a folder young forever, so a moment in the future says nothing.
fn is_untouched(path: &Path, search: GcSearch) -> bool {
    fs::metadata(path).is_ok_and(|found| is_long_ago(found.mtime(), search))
}

fn is_long_ago(seconds: i64, search: GcSearch) -> bool {
    let (then, now) = (Millis(seconds.saturating_mul(1_000)), clock::machine_now());
    then > now || tidy::is_old(Some(then), search.older_than, now)
}

/// When the last of them was taken, in seconds.
fn newest(snapshots: &[StoredSnapshot]) -> i64 {
    snapshots.iter().map(|snapshot| snapshot.at_seconds).max().unwrap_or(i64::MAX)
}

/// Whether a run ended long ago. One that this store does not know belongs to another one, and stays.
async fn is_old(engine: &Engine, id: RunId, search: GcSearch) -> Outcome<bool> {
    let run = engine.known_run(id).await?;
    Ok(run.is_some_and(|run| tidy::is_old(run.ended_at, search.older_than, engine.now())))
}

/// The snapshots of runs that ended long ago: all of work that has landed, all but the last of other work.
pub(super) async fn snapshots(engine: &Engine, search: GcSearch) -> Outcome<Vec<Removable>> {
    let mut items = Vec::new();
    for project in engine.projects_here().await? {
        if !Path::new(&project.common_dir).exists() {
            continue;
        }
        let git = ProjectGit::open(engine, &project.common_dir).await?;
        let mut of_runs: BTreeMap<String, Vec<StoredSnapshot>> = BTreeMap::new();
        for snapshot in git.snapshots().await? {
            of_runs.entry(snapshot.run.clone()).or_default().push(snapshot);
        }
        let mut old = Vec::new();
        for (name, snapshots) in of_runs {
            if let Ok(id) = name.parse::<RunId>()
                && is_long_ago(newest(&snapshots), search)
                && is_old(engine, id, search).await?
            {
                old.push(snapshots);
            }
        }
        let found = blocking(move || droppable(&git, old)).await?;
        items.extend(found.map_err(problems::git)?);
    }
    Ok(items)
}

fn droppable(project: &ProjectGit, runs: Vec<Vec<StoredSnapshot>>) -> Result<Vec<Removable>, GitError> {
    let ProjectGit { repo, vault } = project;
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let heads: BTreeSet<Oid> = runs.iter().flatten().filter_map(|snapshot| snapshot.head.clone()).collect();
    let landings = git::landings(repo)?;
    let facts = CommitFacts {
        missing: git::not_landed(vault, &heads, &landings)?,
        trees: git::trees(vault, &heads)?,
        landings,
    };
    let found = |snapshots: Vec<StoredSnapshot>| -> Option<Removable> {
        let judged: Vec<SnapshotFacts> = snapshots.iter().map(|snapshot| facts.of(snapshot)).collect();
        let is_landed = judged.last().is_some_and(|last| last.is_landed);
        let may_go = tidy::droppable(&judged);
        let drop: Vec<StoredSnapshot> = snapshots
            .into_iter()
            .zip(may_go)
            .filter(|(_, may_go)| *may_go)
            .map(|(snapshot, _)| snapshot)
            .collect();
        let first = drop.first()?;
        let why = if is_landed { "its work has landed" } else { "older than its last one, which stays" };
        let (what, why) = (format!("run {}", first.run), why.to_owned());
        let item = GcItem { kind: GcKind::Snapshots, what, why, count: drop.len(), bytes: 0 };
        Some(Removable { item, action: GcAction::Drop(vault.clone(), drop) })
    };
    Ok(runs.into_iter().filter_map(found).collect())
}

/// What git says about the commits that snapshots were taken on.
struct CommitFacts {
    missing: BTreeSet<Oid>,
    trees: BTreeMap<Oid, Oid>,
    landings: Vec<LandingTarget>,
}

impl CommitFacts {
    fn of(&self, snapshot: &StoredSnapshot) -> SnapshotFacts {
        let is_merged = snapshot
            .head
            .as_ref()
            .is_some_and(|head| self.trees.get(head) == Some(&snapshot.tree) && !self.missing.contains(head));
        let is_same = self.landings.iter().any(|landing| landing.tree == snapshot.tree);
        SnapshotFacts { is_landed: !snapshot.has_more && (is_merged || is_same), has_more: snapshot.has_more }
    }
}
