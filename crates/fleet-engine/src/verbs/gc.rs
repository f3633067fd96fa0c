mod find;
mod history;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_api::verbs::gc::{Answer, Failed, GcItem, GcKind, Request};
use fleet_core::project::Project;
use fleet_host::disk;
use fleet_host::git::{self, Area, Slot, StoredSnapshot};
use fleet_host::lock::Exclusive;

use super::prelude::*;
use super::project_git::ProjectGit;
use crate::home::Home;
use crate::sweep;

pub(crate) use find::area;
pub(super) use find::names;

#[derive(Debug, Clone, Copy)]
struct GcSearch {
    /// Logs and snapshots of runs that ended longer ago than this.
    older_than: Duration,
    size: SizeMode,
}

/// Whether to find out how large things are, which takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SizeMode {
    Measured,
    Unknown,
}

impl GcSearch {
    fn bytes(self, path: &Path) -> u64 {
        if self.size == SizeMode::Measured { disk::usage(path).bytes } else { 0 }
    }
}

/// Something that may go, and how.
#[derive(Debug)]
struct Removable {
    item: GcItem,
    action: GcAction,
}

#[derive(Debug, Clone)]
enum GcAction {
    /// With the rest of the trash.
    Sweep,
    Discard(Area, Slot),
    Folder(RunId),
    Drop(PathBuf, Vec<StoredSnapshot>),
    Files(Vec<PathBuf>),
}

/// Looks; then removes what was seen before and may still go. What is large only moves aside, and goes in the background.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let older_than = Duration::from_secs(request.older_than_seconds);
    let Some(seen) = request.remove else {
        let found = search(engine, GcSearch { older_than, size: SizeMode::Measured }).await?;
        let removed = found.into_iter().map(|found| found.item).collect();
        return Ok(Answer { dry_run: true, removed, failed: Vec::new() });
    };
    let found = search(engine, GcSearch { older_than, size: SizeMode::Unknown }).await?;
    remove(engine, seen, found).await
}

async fn search(engine: &Engine, search: GcSearch) -> Outcome<Vec<Removable>> {
    let mut found = Vec::new();
    found.extend(find::trash(engine, search).await?);
    found.extend(find::worktrees(engine, search).await?);
    found.extend(history::logs(engine, search).await?);
    found.extend(history::snapshots(engine, search).await?);
    found.extend(find::files(engine)?);
    Ok(found)
}

async fn remove(engine: &Engine, seen: Vec<GcItem>, mut found: Vec<Removable>) -> Outcome<Answer> {
    let mut answer = Answer { dry_run: false, removed: Vec::new(), failed: Vec::new() };
    let home = engine.home();
    for item in seen {
        let Some(at) = found.iter().position(|found| is_same(&item, &found.item)) else {
            answer.failed.push(Failed { what: item.what, why: "it changed meanwhile".to_owned() });
            continue;
        };
        let (home, action) = (home.clone(), found.swap_remove(at).action);
        match blocking(move || act(&home, action)).await? {
            Ok(()) => answer.removed.push(item),
            Err(why) => answer.failed.push(Failed { what: item.what, why }),
        }
    }
    for project in engine.projects_here().await? {
        answer.failed.extend(tidy_vault(engine, project).await?);
    }
    sweep::start(engine)?;
    Ok(answer)
}

/// Whether something is what the user saw. Of snapshots there may be others by now, and they were not seen.
fn is_same(seen: &GcItem, now: &GcItem) -> bool {
    let is_it = seen.kind == now.kind && seen.what == now.what;
    is_it && (seen.kind != GcKind::Snapshots || seen.count == now.count)
}

/// Lets the vault of a project give back what its snapshots do not need any more.
async fn tidy_vault(engine: &Engine, project: Project) -> Outcome<Option<Failed>> {
    let ProjectGit { repo, vault } = ProjectGit::at(engine, &project.common_dir);
    if !repo.exists() || !vault.exists() {
        return Ok(None);
    }
    let what = format!("snapshots of {}", project.name);
    let tidied = blocking(move || git::tidy_vault(&repo, &vault)).await?;
    Ok(tidied.err().map(|error| Failed { what, why: error.to_string() }))
}

fn act(home: &Home, action: GcAction) -> Result<(), String> {
    match action {
        GcAction::Sweep => Ok(()),
        GcAction::Discard(area, slot) => match area.remove(&slot) {
            Ok(true) => Ok(()),
            Ok(false) => Err("it is in use now".to_owned()),
            Err(error) => Err(error.to_string()),
        },
        GcAction::Folder(run) => {
            let moved = git::move_to_trash(&home.trash(), home.run(run).dir());
            moved.map(drop).map_err(|error| error.to_string())
        }
        GcAction::Drop(repo, snapshots) => {
            git::drop_snapshots(&repo, &snapshots).map_err(|error| error.to_string())
        }
        GcAction::Files(files) => {
            files.iter().try_for_each(|file| remove_stale(file).map_err(|error| error.to_string()))
        }
    }
}

/// Under its lock: a process that wants the file at the same time makes a new one.
fn remove_stale(file: &Path) -> std::io::Result<()> {
    let Some(lock) = Exclusive::try_acquire(file)? else { return Ok(()) };
    fs::remove_file(file)?;
    drop(lock);
    Ok(())
}
