//! Gives disk space back, never at the price of work that has not landed.

mod find;
mod history;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_core::project::Project;
use fleet_host::git::{self, Area, Slot, StoredSnapshot};
use fleet_host::lock::Exclusive;
use serde::Serialize;

use super::lineage;
use super::project_git::ProjectGit;
use crate::home::Home;
use crate::keeper::blocking;
use crate::{Engine, sweep};

pub(crate) use find::area;
pub(super) use find::names;

/// What to look for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Logs and snapshots of runs that ended longer ago than this.
    pub older_than: Duration,
    /// Goes up by one for each file that was looked at.
    pub seen: Arc<AtomicU64>,
}

/// What may go.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Plan {
    /// What may go, and why.
    pub items: Vec<Item>,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What was moved aside before.
    Trash,
    /// A worktree that nobody uses.
    Worktree,
    /// The folder of a run.
    Logs,
    /// Snapshots of a run.
    Snapshots,
    /// Small files of processes that are gone.
    Files,
}

/// Something that may go.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Item {
    pub kind: Kind,
    pub what: String,
    pub why: String,
    pub count: usize,
    pub bytes: u64,
    #[serde(skip)]
    action: Action,
}

/// How it goes.
#[derive(Debug, Clone)]
enum Action {
    /// With the rest of the trash.
    Sweep,
    Discard(Area, Slot),
    Folder(RunId),
    Drop(PathBuf, Vec<StoredSnapshot>),
    Files(Vec<PathBuf>),
}

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// What is gone, or is being removed in the background.
    pub removed: Vec<Item>,
    /// What could not be removed, and why.
    pub failed: Vec<Failed>,
}

/// Something that could not be removed.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Failed {
    pub what: String,
    pub why: String,
}

/// Looks, and changes nothing.
pub async fn plan(engine: &Engine, request: &Request) -> Outcome<Plan> {
    let mut items = Vec::new();
    items.extend(find::trash(engine, request).await?);
    items.extend(find::worktrees(engine, request).await?);
    items.extend(history::logs(engine, request).await?);
    items.extend(history::snapshots(engine, request).await?);
    items.extend(find::files(engine)?);
    Ok(Plan { items })
}

/// Removes what the plan says; what is large only moves aside, and goes in the background.
pub async fn run(engine: &Engine, plan: Plan) -> Outcome<Response> {
    lineage::people_only(engine, "remove what is old")?;
    let mut response = Response { removed: Vec::new(), failed: Vec::new() };
    let home = Home::new(engine.home());
    for item in plan.items {
        let (home, action) = (home.clone(), item.action.clone());
        match blocking(move || act(&home, action)).await? {
            Ok(()) => response.removed.push(item),
            Err(why) => response.failed.push(Failed { what: item.what, why }),
        }
    }
    for project in engine.projects_here().await? {
        response.failed.extend(tidy_vault(engine, project).await?);
    }
    sweep::start(engine)?;
    Ok(response)
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

fn act(home: &Home, action: Action) -> Result<(), String> {
    match action {
        Action::Sweep => Ok(()),
        Action::Discard(area, slot) => match area.remove(&slot) {
            Ok(true) => Ok(()),
            Ok(false) => Err("somebody uses it now".to_owned()),
            Err(error) => Err(error.to_string()),
        },
        Action::Folder(run) => {
            let moved = git::move_to_trash(&home.trash(), home.run(run).dir());
            moved.map(drop).map_err(|error| error.to_string())
        }
        Action::Drop(repo, snapshots) => {
            git::drop_snapshots(&repo, &snapshots).map_err(|error| error.to_string())
        }
        Action::Files(files) => {
            files.iter().try_for_each(|file| remove_stale(file).map_err(|error| error.to_string()))
        }
    }
}

/// Under its lock: whoever wants the file at the same time makes a new one.
fn remove_stale(file: &std::path::Path) -> std::io::Result<()> {
    let Some(lock) = Exclusive::try_acquire(file)? else { return Ok(()) };
    fs::remove_file(file)?;
    drop(lock);
    Ok(())
}
