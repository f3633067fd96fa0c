//! What the other `fleet` keeps in its home: `runtime.toml`, and a folder for each task of its queue.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fleet_api::verbs::init_migrate::{Request, Step};
use fleet_api::verbs::task_import;
use serde::Deserialize;
use toml_edit::DocumentMut;

use super::rename;
use crate::config::{self, ConfigFile, Origin};
use crate::home::OTHER_CONFIG;
use crate::text_file::{self, Unusable};
use crate::verbs::prelude::*;
use crate::{agents, verbs};

const LIMIT: u64 = 1 << 20;
/// A line of a list; the text has all of it.
const LONGEST_TITLE: usize = 100;
/// In the folder of a task that was taken over, in case the rest is not.
const DONE: &str = ".migrated";
const QUEUE: &str = "queue";

fn nothing(from: &Path) -> Step {
    let from = from.display().to_string();
    Step { from, to: None, backup: None, settings: Vec::new(), tasks: 0, remarks: Vec::new() }
}

/// Its settings go into the user's file, where that says nothing about them.
pub(super) fn settings(engine: &Engine, request: Request) -> Outcome<Option<Step>> {
    let path = engine.home().root().join(OTHER_CONFIG);
    let text = match text_file::read(&path, LIMIT) {
        Ok(text) => text,
        Err(Unusable::Missing) => return Ok(None),
        Err(why) => return Err(Problem::new(Code::Io, format!("{}: {why}", path.display()))),
    };
    let file: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        Problem::new(Code::ConfigInvalid, format!("{}: {}", path.display(), error.message()))
    })?;
    let own = engine.user_config();
    let mut step = Step { to: Some(own.path().display().to_string()), ..nothing(&path) };
    for (key, value) in mapped(&file, &mut step.remarks) {
        if is_set(engine, &key)? {
            step.remarks.push(format!("`{key}` is set already, so {value:?} was left out"));
        } else if key == "agent" && agents::check_known(engine, &value).is_err() {
            step.remarks.push(format!("{value:?} is not an agent that codefleet knows"));
        } else if let Err(problem) = put(&own, &key, &value, request) {
            step.remarks.push(format!("{problem}, so it was left out"));
        } else {
            step.settings.push(format!("{key} = {value}"));
        }
    }
    if !request.dry_run {
        step.backup = Some(rename(&path)?);
    }
    Ok(Some(step))
}

fn put(own: &ConfigFile, key: &str, value: &str, request: Request) -> Outcome<()> {
    if request.dry_run { Ok(()) } else { config::set(own, key, value).map(drop) }
}

fn is_set(engine: &Engine, key: &str) -> Outcome<bool> {
    let set = |setting: &config::Setting| setting.key == key && matches!(setting.origin, Origin::User { .. });
    Ok(engine.config()?.settings().iter().any(set))
}

/// Our keys with their values, as a user would type them.
fn mapped(file: &DocumentMut, remarks: &mut Vec<String>) -> Vec<(String, String)> {
    let text = |key: &str| file.get(key).and_then(|item| item.as_str()).filter(|text| !text.is_empty());
    let coder = text("coder").unwrap_or("claude");
    let mut settings = Vec::new();
    if text("coder").is_some() {
        settings.push(("agent".to_owned(), coder.to_owned()));
    }
    match file.get("max_concurrent").and_then(toml_edit::Item::as_integer) {
        Some(number @ 1..=1_000) => settings.push(("runner.slots".to_owned(), number.to_string())),
        Some(number) => remarks.push(format!("max_concurrent = {number} is no number of slots")),
        None => {}
    }
    match text("model") {
        // It was the default for every agent, also for those that have no such model.
        Some(model @ ("sonnet" | "opus" | "haiku")) if coder != "claude" => {
            remarks.push(format!("model = {model:?} is not a model of {coder}"));
        }
        Some(model) => settings.push((format!("agents.{coder}.model"), model.to_owned())),
        None => {}
    }
    let others = [
        "context_pressure_threshold_pct",
        "telegram_chat_id",
        "telegram_allowed_ids",
        "telegram_default_cwd",
    ];
    let left = others.into_iter().filter(|key| file.get(key).is_some_and(|item| item.as_str() != Some("")));
    remarks.extend(left.map(|key| format!("{key} has no counterpart")));
    settings
}

/// A task as its folder has it; what its agent closed may not be noted there.
#[derive(Debug, Clone, Deserialize)]
struct OtherTask {
    id: String,
    title: Option<String>,
    description: Option<String>,
    status: Option<String>,
    cwd: Option<PathBuf>,
    coder: Option<String>,
    model: Option<String>,
    priority: Option<i64>,
    #[serde(default)]
    depends_on: Vec<String>,
}

/// Its tasks become held ones: only a person knows which of them are still wanted.
pub(super) async fn tasks(engine: &Engine, request: Request) -> Outcome<Option<Step>> {
    let folder = engine.home().root().join("tasks");
    let found = found(&folder);
    if found.is_empty() {
        return Ok(None);
    }
    let mut step = Step { to: Some(QUEUE.to_owned()), ..nothing(&folder) };
    let mut groups: BTreeMap<String, (Engine, Vec<OtherTask>)> = BTreeMap::new();
    for task in found {
        match placed(engine, &task) {
            Err(why) => step.remarks.push(format!("{}: {why}", task.id)),
            Ok((key, there)) => groups.entry(key).or_insert_with(|| (there, Vec::new())).1.push(task),
        }
    }
    let mut is_whole = true;
    for (there, tasks) in groups.into_values() {
        match import(&there, &folder, &tasks, request).await {
            Ok(()) => step.tasks += tasks.len(),
            Err(problem) => {
                is_whole = false;
                step.remarks.push(format!("{} were left: {problem}", names(&tasks)));
            }
        }
    }
    if !request.dry_run && is_whole {
        step.backup = Some(rename(&folder)?);
    }
    Ok(Some(step))
}

/// The tasks that were not taken over yet, in the order of their ids.
fn found(folder: &Path) -> Vec<OtherTask> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let read = |path: PathBuf| -> Option<OtherTask> {
        let text = text_file::read(&path.join("task.json"), LIMIT).ok()?;
        serde_json::from_str(&text).ok().filter(|_| !path.join(DONE).exists())
    };
    let mut tasks: Vec<OtherTask> = entries.flatten().filter_map(|entry| read(entry.path())).collect();
    tasks.sort_by(|one, other| one.id.cmp(&other.id));
    tasks
}

/// Where a task belongs: its repository, by its git directory.
fn placed(engine: &Engine, task: &OtherTask) -> Result<(String, Engine), String> {
    if task.status.as_deref() == Some("closed") {
        return Err("it is closed".to_owned());
    }
    if task.title.as_deref().unwrap_or_default().trim().is_empty() {
        return Err(format!("it has no title here; `bd show {}` shows it", task.id));
    }
    let cwd = task.cwd.clone().ok_or("it names no folder")?;
    let there = engine.at(cwd).map_err(|problem| problem.to_string())?;
    let key = there.common_dir().map_err(|problem| problem.to_string())?;
    Ok((key, there))
}

async fn import(there: &Engine, folder: &Path, tasks: &[OtherTask], request: Request) -> Outcome<()> {
    let lines: Vec<String> = tasks.iter().map(|task| line(there, task, tasks)).collect();
    if request.dry_run {
        return Ok(());
    }
    let request = task_import::Request {
        new_ids: false,
        dry_run: false,
        format: Some(task_import::ImportFormat::Fleet),
        text: lines.join("\n"),
    };
    verbs::task_import::run(there, request).await?;
    for task in tasks {
        // If it cannot be written, only a crash before the folder is renamed would take the task over again.
        let _ = fs::write(folder.join(&task.id).join(DONE), "");
    }
    Ok(())
}

/// As `fleet task import` reads it.
fn line(there: &Engine, task: &OtherTask, all: &[OtherTask]) -> String {
    let title = task.title.as_deref().unwrap_or_default().lines().next().unwrap_or_default().trim();
    let known = |id: &&String| all.iter().any(|other| other.id == **id);
    let agent = task.coder.as_deref().filter(|agent| agents::check_known(there, agent).is_ok());
    let model = task.model.as_deref().filter(|model| agents::check(there, agent, Some(model)).is_ok());
    serde_json::json!({
        "key": task.id,
        "state": "held",
        "title": title.chars().take(LONGEST_TITLE).collect::<String>(),
        "description": task.description.clone().unwrap_or_default(),
        "priority": priority(task.priority),
        "agent": agent,
        "model": model.filter(|_| agent.is_some()),
        "after": task.depends_on.iter().filter(known).collect::<Vec<_>>(),
        "labels": ["migrated"],
        "meta": { "migrated_from": task.id },
    })
    .to_string()
}

/// Theirs begins with 0, the most urgent; ours ends with 5.
fn priority(theirs: Option<i64>) -> i64 {
    theirs.map_or(3, |number| (5 - number).clamp(1, 5))
}

fn names(tasks: &[OtherTask]) -> String {
    tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>().join(", ")
}
