use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleet_api::verbs::disk::{Amount, Answer, ProjectDisk, Request};
use fleet_core::project::Project;
use fleet_host::disk;
use fleet_host::git::{self, SlotState};
use fleet_store::StoreUrl;

use super::gc::{area, names};
use super::prelude::*;
use crate::home::Home;

/// The runs of a project that its logs are looked for among; the logs of others count as those of no project.
const MAX_RUNS: i64 = 10_000;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let home = engine.home();
    let mut logs = logs(home).await?;
    let mut projects = Vec::new();
    for project in engine.projects_here().await? {
        projects.push(of_project(engine, project, &mut logs).await?);
    }
    let trash = Amount { count: names(&home.trash())?.len(), bytes: bytes(home.trash()).await? };
    let store_bytes = match engine.store_url()? {
        StoreUrl::Sqlite(path) => Some(database(&path).await?),
        StoreUrl::Postgres(_) => None,
    };
    let other_logs = sum(logs.values());
    let of_projects =
        projects.iter().map(|one| one.in_use.bytes + one.warm.bytes + one.logs.bytes + one.vault_bytes);
    let total_bytes =
        of_projects.sum::<u64>() + other_logs.bytes + trash.bytes + store_bytes.unwrap_or_default();
    let home = home.root().display().to_string();
    Ok(Answer { home, projects, other_logs, trash, store_bytes, total_bytes })
}

async fn bytes(path: PathBuf) -> Outcome<u64> {
    blocking(move || disk::usage(&path).bytes).await
}

fn sum<'a>(amounts: impl Iterator<Item = &'a u64>) -> Amount {
    amounts.fold(Amount::default(), |sum, bytes| Amount { count: sum.count + 1, bytes: sum.bytes + bytes })
}

async fn logs(home: &Home) -> Outcome<BTreeMap<RunId, u64>> {
    let folders = names(&home.runs())?;
    blocking(move || {
        let run = |path: &Path| path.file_name()?.to_str()?.parse::<RunId>().ok();
        folders.iter().filter_map(|path| Some((run(path)?, disk::usage(path).bytes))).collect()
    })
    .await
}

async fn of_project(
    engine: &Engine,
    project: Project,
    logs: &mut BTreeMap<RunId, u64>,
) -> Outcome<ProjectDisk> {
    let filter = ops::RunFilter { project: Some(project.id), ..Default::default() };
    let runs = engine.call(ops::ListRuns { filter, limit: MAX_RUNS }).await?;
    let own: Vec<u64> = runs.iter().filter_map(|row| logs.remove(&row.run.id)).collect();
    let area = area(engine, &project)?;
    let exists = area.repo.exists();
    let (in_use, warm, snapshots, vault_bytes) = blocking(move || {
        let (mut in_use, mut warm) = (Vec::new(), Vec::new());
        for slot in area.slots().unwrap_or_default() {
            let bytes = disk::usage(&slot.path).bytes;
            if slot.state == SlotState::Free && !slot.live { warm.push(bytes) } else { in_use.push(bytes) }
        }
        let snapshots = git::list_snapshots(&area.vault, None).ok().map(|all| all.len());
        (sum(in_use.iter()), sum(warm.iter()), snapshots, disk::usage(&area.vault).bytes)
    })
    .await?;
    Ok(ProjectDisk {
        id: project.id,
        name: project.name,
        repository: project.common_dir,
        exists,
        in_use,
        warm,
        logs: sum(own.iter()),
        snapshots: snapshots.filter(|_| exists),
        vault_bytes,
    })
}

/// The file of the store, and what SQLite keeps beside it.
async fn database(path: &Path) -> Outcome<u64> {
    let mut total = 0;
    for end in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        total += bytes(file.into()).await?;
    }
    Ok(total)
}
