//! What is there without a use: trash, worktrees, files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fleet_api::verbs::gc::{GcItem, GcKind};
use fleet_core::project::Project;
use fleet_host::git::{Area, Slot, SlotState};
use fleet_host::lock::Exclusive;

use super::{GcAction, GcSearch, Removable};
use crate::keeper::checkout;
use crate::verbs::prelude::*;

/// What was moved aside and is still there.
pub(super) async fn trash(engine: &Engine, search: GcSearch) -> Outcome<Option<Removable>> {
    let trash = engine.home().trash();
    let count = names(&trash)?.len();
    if count == 0 {
        return Ok(None);
    }
    let (what, why) = (trash.display().to_string(), "moved aside before".to_owned());
    let bytes = blocking(move || search.bytes(&trash)).await?;
    let item = GcItem { kind: GcKind::Trash, what, why, count, bytes };
    Ok(Some(Removable { item, action: GcAction::Sweep }))
}

/// Worktrees that are not in use: of repositories that are gone, and more than the pool keeps.
pub(super) async fn worktrees(engine: &Engine, search: GcSearch) -> Outcome<Vec<Removable>> {
    let mut items = Vec::new();
    for project in engine.projects_here().await? {
        let area = area(engine, &project)?;
        let is_gone = !area.repo.exists();
        let found = blocking(move || {
            let slots = area.slots().unwrap_or_default().into_iter();
            let free = slots.filter(|slot| slot.state == SlotState::Free && !slot.live);
            let spare: Vec<Slot> = free.skip(if is_gone { 0 } else { area.pool }).collect();
            let why = if is_gone { "its repository is gone" } else { "more than `workspaces.pool` keeps" };
            let found = |slot: Slot| {
                let (what, bytes) = (slot.path.display().to_string(), search.bytes(&slot.path));
                let item = GcItem { kind: GcKind::Worktree, what, why: why.to_owned(), count: 1, bytes };
                Removable { item, action: GcAction::Discard(area.clone(), slot) }
            };
            spare.into_iter().map(found).collect::<Vec<_>>()
        });
        items.extend(found.await?);
    }
    Ok(items)
}

/// The worktrees of a project, as it is configured or, where that is gone, as everything is.
pub(crate) fn area(engine: &Engine, project: &Project) -> Outcome<Area> {
    let here = engine.at(checkout(project)).and_then(|here| here.config().cloned());
    let config = here.or_else(|_| engine.without_project().config().cloned())?;
    Ok(engine.home().area(project, &config))
}

/// Files of runners that are gone. Those of ports are removed by the next one who wants ports.
pub(super) fn files(engine: &Engine) -> Outcome<Option<Removable>> {
    let mut stale = Vec::new();
    for path in names(&engine.home().runners())? {
        if !Exclusive::is_held(&path).map_err(problems::at(&path))? {
            stale.push(path);
        }
    }
    if stale.is_empty() {
        return Ok(None);
    }
    let (count, what) = (stale.len(), "runners".to_owned());
    let why = "their processes are gone".to_owned();
    let item = GcItem { kind: GcKind::Files, what, why, count, bytes: 0 };
    Ok(Some(Removable { item, action: GcAction::Files(stale) }))
}

/// What is in a folder, which need not be there.
pub(in crate::verbs) fn names(folder: &Path) -> Outcome<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(problems::at(folder)(error)),
    }
}
