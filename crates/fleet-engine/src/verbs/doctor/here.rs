//! What goes on at this home: runners, what crashes left, the trash.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use fleet_core::task::{Status, Task};
use fleet_host::disk;
use fleet_host::git::{OccupiedSlot, SlotState};
use fleet_host::lock::Exclusive;
use fleet_host::process::Processes;
use fleet_store::ops::{ListTasks, StatusFilter, TaskFilter};

use crate::home::Home;
use crate::lost_keeper::LostKeeper;
use crate::runner::{Startable, find_unattended, registry};
use crate::verbs::gc::{area, names};
use crate::verbs::prelude::*;
use fleet_api::verbs::doctor::{CheckVerdict, DoctorCheck};

/// A run that was claimed a moment ago has no keeper yet.
const STARTING: Duration = Duration::from_secs(10);
/// More than this in the trash is worth a word.
const LARGE_TRASH_BYTES: u64 = 1_000_000_000;
/// How many of a kind are named.
const NAMED: usize = 3;

/// Looks at everything here. Needs a store that answers.
pub(super) async fn checks(engine: &Engine) -> Vec<DoctorCheck> {
    let mut checks = vec![checked("runner", runner(engine).await)];
    match waiting(engine).await {
        Ok(found) => checks.extend(found),
        Err(problem) => checks.push(DoctorCheck::bad("agents", problem)),
    }
    checks.extend(match leftovers(engine).await {
        Ok(found) if found.is_empty() => vec![DoctorCheck::good("leftovers", "none")],
        Ok(found) => found,
        Err(problem) => vec![DoctorCheck::bad("leftovers", problem)],
    });
    checks.push(checked("trash", trash(engine).await));
    checks
}

fn checked(name: &str, outcome: Outcome<DoctorCheck>) -> DoctorCheck {
    outcome.unwrap_or_else(|problem| DoctorCheck::bad(name, problem))
}

async fn runner(engine: &Engine) -> Outcome<DoctorCheck> {
    let up = registry::up(engine.home())?;
    let (old, up): (Vec<_>, Vec<_>) = up.into_iter().partition(|runner| runner.outdated);
    if let (Some(old), true) = (old.first(), up.is_empty()) {
        let detail =
            format!("{} ({}) is older than the store: it starts no more agents", old.name, old.version);
        return Ok(DoctorCheck::warning(
            "runner",
            detail,
            "`fleet restart` starts this version; agents keep running",
        ));
    }
    if let Some(first) = up.first() {
        let more = if up.len() > 1 {
            format!(", and {} more: `fleet status` shows them", up.len() - 1)
        } else {
            String::new()
        };
        return Ok(DoctorCheck::good("runner", format!("{} is up{more}", first.name)));
    }
    Ok(match find_unattended(engine).await? {
        None => DoctorCheck::good("runner", "none is up, and none is needed"),
        Some(tasks) => {
            let detail = format!("tasks are {}, and no runner is up", tasks.state());
            DoctorCheck::warning("runner", detail, "`fleet start` starts one")
        }
    })
}

const CHECKED_TASKS: i64 = 1_000;

/// What tasks need that is not here. Another machine with the same store may have it.
async fn waiting(engine: &Engine) -> Outcome<Vec<DoctorCheck>> {
    let statuses = StatusFilter(vec![Status::Ready, Status::Scheduled]);
    let filter = TaskFilter::default();
    let list = ListTasks { statuses, filter, limit: CHECKED_TASKS, now: engine.time().await? };
    let tasks = engine.call(list).await?.tasks;
    let startable = Startable::look(engine, tasks.iter().map(|task| (task.project, task.agent()))).await?;
    Ok(missing_agents(&tasks, &startable).into_iter().chain(refused(&startable)).collect())
}

/// Agents that tasks name, and that cannot be started here.
fn missing_agents(tasks: &[Task], startable: &Startable) -> Option<DoctorCheck> {
    let naming = tasks.iter().filter(|task| task.agent().is_some());
    let missing: BTreeMap<&str, TaskId> =
        naming.filter_map(|task| Some((startable.missing_agent(task.agent())?, task.id))).collect();
    let task = missing.values().next()?;
    let names: Vec<&str> = missing.keys().copied().collect();
    let detail = format!("tasks wait for agents that cannot be started here: {}", names.join(", "));
    let hint = format!(
        "`fleet agents` shows how to install them; `fleet task edit {task} --agent NAME` chooses another"
    );
    Some(DoctorCheck::warning("agents", detail, hint))
}

/// Repositories that tasks are about, and that agents cannot work in here.
fn refused(startable: &Startable) -> impl Iterator<Item = DoctorCheck> {
    startable.refused.values().map(|problem| DoctorCheck {
        name: "repositories".to_owned(),
        verdict: CheckVerdict::Warning,
        detail: format!("tasks wait for a repository: {problem}"),
        hints: problem.hints.clone(),
    })
}

async fn leftovers(engine: &Engine) -> Outcome<Vec<DoctorCheck>> {
    let mut checks = Vec::new();
    let orphans = orphans(engine).await?;
    checks.extend(found(
        "without a keeper",
        &orphans,
        "`fleet start` saves their work and puts their tasks back",
    ));
    let repairing = repairing(engine).await?;
    checks.extend(found(
        "without a keeper, and being repaired",
        &repairing,
        "this ends on its own, after at most 20 minutes; `fleet show RUN` shows its state",
    ));
    let processes = processes(engine).await?;
    checks.extend(found(
        "processes of runs that have ended",
        &processes,
        "look at them with `ps`, and end them",
    ));
    let slots = slots(engine).await?;
    checks.extend(found(
        "worktrees of runs that have ended",
        &slots.ended,
        "`fleet start` saves what is in them",
    ));
    checks.extend(found(
        "workspaces that are not reused, because other processes use them",
        &slots.occupied,
        "leave the folder or end these processes, and they are reused",
    ));
    let save = "save what you need from the worktree, then remove it and the files next to it";
    checks.extend(found("worktrees whose notes are damaged", &slots.damaged, save));
    Ok(checks)
}

fn found(what: &str, names: &[String], hint: &str) -> Option<DoctorCheck> {
    if names.is_empty() {
        return None;
    }
    let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
    let first = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    Some(DoctorCheck::warning("leftovers", format!("{what}: {first}{more}"), hint))
}

/// Runs that are marked as at work here, or that the store takes for such, and that no process keeps.
async fn orphans(engine: &Engine) -> Outcome<Vec<String>> {
    let home = engine.home();
    let mut orphans = Vec::new();
    for run in marked(home)? {
        let path = home.live_run(run);
        if !Exclusive::is_held(&path).map_err(problems::at(&path))? && path.exists() {
            orphans.push(run.to_string());
        }
    }
    let place = engine.place()?;
    for run in engine.call(ops::LiveRuns { place }).await? {
        let is_new = clock::now().since(run.created_at) < STARTING;
        // It may have ended since the store was asked.
        if !is_new && !home.live_run(run.id).exists() && is_live(engine, run.id).await? {
            orphans.push(run.id.to_string());
        }
    }
    Ok(orphans)
}

/// Runs whose keeper is gone and whose work a repair saves.
async fn repairing(engine: &Engine) -> Outcome<Vec<String>> {
    let place = engine.place()?;
    let live = engine.call(ops::LiveRuns { place }).await?;
    let repairing =
        live.iter().filter(|run| LostKeeper::of(engine.home(), run) == Some(LostKeeper::Repairing));
    Ok(repairing.map(|run| run.id.to_string()).collect())
}

fn marked(home: &Home) -> Outcome<Vec<RunId>> {
    let name = |path: PathBuf| path.file_name()?.to_str()?.parse().ok();
    Ok(names(&home.live())?.into_iter().filter_map(name).collect())
}

async fn is_live(engine: &Engine, id: RunId) -> Outcome<bool> {
    Ok(engine.known_run(id).await?.is_some_and(|run| run.state.is_live()))
}

/// Processes that carry the mark of a run of this home that has ended and was tidied up.
async fn processes(engine: &Engine) -> Outcome<Vec<String>> {
    let place = engine.place()?;
    let carrying = blocking(|| Processes::scan().with_variable("FLEET_RUN")).await?;
    let mut left = Vec::new();
    for (value, pids) in carrying {
        let Ok(id) = value.parse::<RunId>() else { continue };
        let Some(run) = engine.known_run(id).await?.filter(|run| run.place == place) else { continue };
        // As long as it is marked, its keeper or the next runner sees to them.
        if !run.state.is_live() && !engine.home().live_run(id).exists() {
            left.extend(pids.iter().map(|pid| format!("{pid} of {id}")));
        }
    }
    Ok(left)
}

#[derive(Default)]
struct Slots {
    ended: Vec<String>,
    damaged: Vec<String>,
    occupied: Vec<String>,
}

/// Worktrees of finished runs that were never given back.
async fn slots(engine: &Engine) -> Outcome<Slots> {
    let home = engine.home();
    let mut found = Slots::default();
    for project in engine.projects_here().await? {
        let area = area(engine, &project)?;
        let look = blocking(move || (area.slots(), area.occupied()));
        let (all, occupied) = look.await?;
        found.occupied.extend(occupied.unwrap_or_default().iter().map(in_words));
        for slot in all.unwrap_or_default().into_iter().filter(|slot| !slot.live) {
            let path = slot.path.display().to_string();
            match slot.state {
                SlotState::Free => {}
                SlotState::Damaged => found.damaged.push(path),
                SlotState::Claimed { owner, .. } => {
                    let Ok(id) = owner.parse::<RunId>() else { continue };
                    // A mark means that it is known already, as a run without a keeper.
                    if !home.live_run(id).exists()
                        && engine.known_run(id).await?.is_some_and(|run| !run.state.is_live())
                    {
                        found.ended.push(path);
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Where it is, and who is in it.
fn in_words(slot: &OccupiedSlot) -> String {
    let who: Vec<String> = slot.occupants.iter().take(NAMED).map(ToString::to_string).collect();
    format!("{} ({})", slot.path.display(), who.join(", "))
}

async fn trash(engine: &Engine) -> Outcome<DoctorCheck> {
    let trash = engine.home().trash();
    let used = blocking(move || disk::usage(&trash)).await?;
    // The folder itself is always there.
    if used.files <= 1 {
        return Ok(DoctorCheck::good("trash", "empty"));
    }
    let said = format!("{} MB in {} files", used.bytes / 1_000_000, used.files - 1);
    Ok(if used.bytes > LARGE_TRASH_BYTES {
        DoctorCheck::warning("trash", said, "`fleet gc` removes it in the background, and so does a runner")
    } else {
        DoctorCheck::good("trash", said)
    })
}
