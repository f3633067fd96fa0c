mod foreign;

use std::collections::BTreeMap;

use fleet_api::verbs::task_import::{Answer, ImportFormat, Request};
use fleet_core::deps::{self, Edge};
use fleet_core::id::ProjectId;
use fleet_core::task::{AgentName, ModelName, Task, TaskSpec, TaskState};
use fleet_core::text::escaped;
use fleet_store::ops::NewTask;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::lineage;
use super::prelude::*;
use super::task_add::{check_author, settle};
use super::task_export::TaskLine;
use crate::caller::author;
use crate::config::nearest;
use crate::{agents, allowed};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    allowed::check(engine)?;
    engine.repository()?;
    let config = engine.config()?;
    let is_agent = lineage::own_task(engine)?.is_some();
    if is_agent {
        refuse_flood(&request.text)?;
    }
    let defaults = ImportDefaults {
        priority: config.tasks().priority,
        retries: config.tasks().retries,
        check_retries: config.tasks().check_retries,
        now: engine.time().await?,
    };
    let FileLines { format, lines, skipped, known } = file_lines(engine, &request).await?;
    if lines.is_empty() && skipped > 0 {
        return Ok(Answer { ids: Vec::new(), format, skipped, dry_run: request.dry_run });
    }
    let mut lines = parse(&lines, &defaults)?;
    if let Some((number, _)) = lines.iter().find(|(_, line)| is_agent && line.state.is_settled()) {
        return Err(wrong(*number, "only people can import a finished task"));
    }
    if let Some((number, _)) = lines.iter().find(|(_, line)| is_agent && line.spec.existing_branch) {
        return Err(wrong(*number, "only people can give an existing branch to a task"));
    }
    for (_, line) in lines.iter_mut().filter(|(_, line)| !is_over(line)) {
        check_author(engine, &line.spec)?;
        settle(engine, &mut line.spec)?;
    }
    check_models(engine, &lines)?;
    let ids =
        lines.iter().map(|(_, line)| id_for(engine, line, request.new_ids)).collect::<Outcome<Vec<_>>>()?;
    let mut names = names(&lines, &ids)?;
    names.extend(known);
    let mut after = Vec::with_capacity(lines.len());
    for (number, line) in &lines {
        after.push(resolve(engine, &names, *number, &line.after).await?);
    }
    refuse_cycles(&lines, &ids, &after)?;
    if let Some(id) = engine.call(ops::AnyExisting { ids: ids.clone() }).await? {
        return Err(problems::store(StoreError::TaskExists(id)));
    }
    if request.dry_run {
        return Ok(Answer { ids, format, skipped, dry_run: true });
    }
    let project = engine.project().await?.id;
    let tasks = lines
        .into_iter()
        .zip(&ids)
        .zip(after)
        .map(|((line, id), after)| new_task(line.1, *id, after, project));
    let add = ops::AddTasks { tasks: tasks.collect(), author: author(engine)?, now: engine.now() };
    let added: Vec<Task> = engine.call(add).await?;
    let ids = added.iter().map(|task| task.id).collect();
    Ok(Answer { ids, format, skipped, dry_run: false })
}

/// What a file has to import.
struct FileLines {
    format: ImportFormat,
    /// With their numbers in the file.
    lines: Vec<(usize, String)>,
    /// How many issues of the file were imported before.
    skipped: usize,
    /// Issues that were imported before: their ids there and here.
    known: BTreeMap<String, TaskId>,
}

async fn file_lines(engine: &Engine, request: &Request) -> Outcome<FileLines> {
    let format = request.format.unwrap_or_else(|| foreign::detect(&request.text));
    if format == ImportFormat::Fleet {
        let lines = request.text.lines().enumerate().map(|(at, text)| (at + 1, text.trim().to_owned()));
        let lines = lines.filter(|(_, text)| !text.is_empty()).collect();
        return Ok(FileLines { format, lines, skipped: 0, known: BTreeMap::new() });
    }
    let known = if request.new_ids { BTreeMap::new() } else { imported(engine).await? };
    let read = foreign::lines(&request.text, format, &|id| known.contains_key(id));
    let foreign::ForeignLines { lines, known: old } = read.map_err(|why| {
        Problem::new(Code::ImportInvalid, why)
            .hint("nothing was imported; `--format` says what the file is, if it was not recognised")
    })?;
    Ok(FileLines { format, lines, skipped: old.len(), known })
}

/// The issues of other trackers that the project has tasks for, cancelled ones included.
async fn imported(engine: &Engine) -> Outcome<BTreeMap<String, TaskId>> {
    const PAGE: i64 = 1_000;
    let mut known = BTreeMap::new();
    let Some(project) = engine.known_project().await? else { return Ok(known) };
    let mut after = None;
    loop {
        let page = engine.call(ops::ExportTasks { project: Some(project.id), after, limit: PAGE }).await?;
        let Some((last, _)) = page.last() else { return Ok(known) };
        after = Some(last.id);
        for (task, _) in &page {
            let external = task.spec.meta.iter().find(|(name, _)| name.as_str() == foreign::EXTERNAL);
            known.extend(external.map(|(_, id)| (id.as_str().to_owned(), task.id)));
        }
    }
}

/// Refuses an agent a file of more tasks than it may add, before all of them are looked at.
fn refuse_flood(text: &str) -> Outcome<()> {
    let count = text.lines().filter(|line| !line.trim().is_empty()).count();
    if count <= ops::MAX_ADDED {
        return Ok(());
    }
    let message = format!("{count} tasks: an agent can have at most {} unfinished tasks", ops::MAX_ADDED);
    Err(Problem::new(Code::SpawnRefused, message)
        .hint("a person can import as many as they want: `fleet task import FILE`"))
}

fn wrong(number: usize, why: impl std::fmt::Display) -> Problem {
    Problem::new(Code::ImportInvalid, format!("line {number}: {why}"))
        .hint("nothing was imported; `fleet task import --help` shows what a line looks like")
}

/// A task that is over keeps what it was done with.
fn is_over(line: &TaskLine) -> bool {
    matches!(line.state, TaskState::Done | TaskState::Cancelled)
}

fn check_models(engine: &Engine, lines: &[(usize, TaskLine)]) -> Outcome<()> {
    for (number, line) in lines.iter().filter(|(_, line)| !is_over(line)) {
        let (agent, model) = (&line.spec.agent, &line.spec.model);
        let checked = agents::check(
            engine,
            agent.as_ref().map(AgentName::as_str),
            model.as_ref().map(ModelName::as_str),
        );
        checked.map_err(|problem| wrong(*number, problem.to_string()).hints(problem.hints))?;
    }
    Ok(())
}

struct ImportDefaults {
    priority: u8,
    retries: u32,
    check_retries: u32,
    now: Millis,
}

/// The lines with their numbers in the file.
fn parse(texts: &[(usize, String)], defaults: &ImportDefaults) -> Outcome<Vec<(usize, TaskLine)>> {
    let mut lines = Vec::new();
    for (number, text) in texts {
        lines.push((*number, parse_line(text, defaults).map_err(|why| wrong(*number, why))?));
    }
    if lines.is_empty() {
        return Err(Problem::new(Code::ImportInvalid, "the file has no tasks"));
    }
    Ok(lines)
}

/// Taken apart by hand: a flattened struct would swallow misspelt fields.
fn parse_line(text: &str, defaults: &ImportDefaults) -> Result<TaskLine, String> {
    if !text.starts_with('{') {
        return Err("it is not a JSON object, such as {\"title\": \"Fix the login\"}".to_owned());
    }
    let mut object: Map<String, Value> = serde_json::from_str(text).map_err(|error| json_error(&error))?;
    // An empty field is a field that was left out, as in the answers of every other command.
    object.retain(|_, value| !value.is_null());
    object.entry("priority").or_insert_with(|| defaults.priority.into());
    let retry =
        || serde_json::json!({ "retries": defaults.retries, "check_retries": defaults.check_retries });
    object.entry("retry").or_insert_with(retry);
    let id = take(&mut object, "id")?;
    let key = take(&mut object, "key")?;
    let state: Option<TaskState> = take(&mut object, "state")?;
    let after = take::<Vec<String>>(&mut object, "after")?.unwrap_or_default();
    let not_before: Option<String> = take(&mut object, "not_before")?;
    let not_before = not_before
        .map(|text| clock::parse_moment(&text, defaults.now).map_err(|problem| problem.to_string()));
    let mut spec: TaskSpec =
        serde_json::from_value(Value::Object(object)).map_err(|error| with_advice(&json_error(&error)))?;
    spec.take_fields_from_meta().map_err(|error| error.to_string())?;
    spec.not_before = not_before.transpose()?;
    spec.check().map_err(|error| error.to_string())?;
    // What ran elsewhere does not run here.
    let state = state.filter(|state| *state != TaskState::Running).unwrap_or(TaskState::Queued);
    Ok(TaskLine { id, key, state, after, not_before: spec.not_before.map(Moment), spec })
}

fn take<T: DeserializeOwned>(object: &mut Map<String, Value>, name: &str) -> Result<Option<T>, String> {
    let value = object.remove(name).unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|error| format!("{name}: {}", json_error(&error)))
}

/// The fields of a line that are not fields of a task.
const OTHERS: [&str; 5] = ["id", "key", "state", "after", "not_before"];

/// The error for an unknown field, with the one that was probably meant, or with all fields.
fn with_advice(message: &str) -> String {
    let Some((unknown, fields)) = message.split_once(", expected one of ") else { return message.to_owned() };
    let told = fields.split(", ").map(|field| field.trim_matches('`').to_owned());
    let mut names: Vec<String> = told.chain(OTHERS.map(ToOwned::to_owned)).collect();
    names.sort();
    names.dedup();
    let given = unknown.split('`').nth(1).unwrap_or_default();
    match nearest(given, names.iter().cloned()) {
        Some(meant) => format!("{unknown}; did you mean `{meant}`?"),
        None => format!("{unknown}; the fields are {}", names.join(", ")),
    }
}

/// The message without serde's own "line 1", which is not the line of the file.
fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    escaped(message).into_owned()
}

fn id_for(engine: &Engine, line: &TaskLine, new_ids: bool) -> Outcome<TaskId> {
    match line.id {
        Some(id) if !new_ids => Ok(id),
        _ => engine.new_id(),
    }
}

/// The ids that lines give themselves: by key and by id.
fn names(lines: &[(usize, TaskLine)], ids: &[TaskId]) -> Outcome<BTreeMap<String, TaskId>> {
    let mut names = BTreeMap::new();
    for ((number, line), id) in lines.iter().zip(ids) {
        for name in line.key.iter().cloned().chain(line.id.map(|id| id.to_string())) {
            if names.insert(name.clone(), *id).is_some() {
                return Err(wrong(*number, format!("{:?} appears twice in the file", escaped(&name))));
            }
        }
    }
    Ok(names)
}

async fn resolve(
    engine: &Engine,
    names: &BTreeMap<String, TaskId>,
    number: usize,
    after: &[String],
) -> Outcome<Vec<TaskId>> {
    let mut resolved = Vec::with_capacity(after.len());
    for name in after {
        let id = match names.get(name) {
            Some(id) => *id,
            None => {
                existing(engine, name).await.map_err(|problem| wrong(number, format!("after: {problem}")))?
            }
        };
        if !resolved.contains(&id) {
            resolved.push(id);
        }
    }
    Ok(resolved)
}

/// Only whole ids: a misspelt key must never hit the beginning of another task's id.
async fn existing(engine: &Engine, name: &str) -> Outcome<TaskId> {
    let unknown = || {
        let what = format!("{:?} is neither a key of the file nor the id of a task", escaped(name));
        Problem::new(Code::TaskNotFound, what)
    };
    let id: TaskId = name.parse().map_err(|_| unknown())?;
    engine.call(ops::AnyExisting { ids: vec![id] }).await?.ok_or_else(unknown)
}

fn refuse_cycles(lines: &[(usize, TaskLine)], ids: &[TaskId], after: &[Vec<TaskId>]) -> Outcome<()> {
    let edges =
        ids.iter().zip(after).flat_map(|(task, after)| after.iter().map(|on| Edge { task: *task, on: *on }));
    let Some(cycle) = deps::any_cycle(&edges.collect::<Vec<_>>()) else { return Ok(()) };
    let number = |id: &TaskId| ids.iter().position(|other| other == id).map_or(0, |at| lines[at].0);
    let path: Vec<String> = cycle.iter().map(|id| format!("line {}", number(id))).collect();
    let problem =
        Problem::new(Code::DependencyCycle, format!("tasks wait for each other: {}", path.join(" → ")));
    Err(problem.hint("nothing was imported"))
}

fn new_task(line: TaskLine, id: TaskId, after: Vec<TaskId>, project: ProjectId) -> NewTask {
    NewTask { id, project, spec: line.spec, after, state: line.state }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim().to_owned()));
        let lines: Vec<_> = lines.filter(|(_, line)| !line.is_empty()).collect();
        parse(&lines, &ImportDefaults { priority: 3, retries: 2, check_retries: 2, now: Millis(0) })
            .map(drop)
            .unwrap_err()
            .message
    }

    #[test]
    fn a_wrong_line_is_named_with_its_number_and_its_fault() {
        assert_eq!(
            why("\n{\"title\":\"a\"}\n{\"titel\":\"b\"}"),
            "line 3: unknown field `titel`; did you mean `title`?"
        );
        assert_eq!(why("{}"), "line 1: missing field `title`");
        assert!(why("[1]").starts_with("line 1: it is not a JSON object"));
        assert_eq!(
            why("{\"title\":\"a\",\"priority\":9}"),
            "line 1: priority: 9 is not between 1 and 5 (5 is served first)"
        );
        assert_eq!(
            why("{\"title\":\"a\",\"after\":\"x\"}"),
            "line 1: after: invalid type: string \"x\", expected a sequence"
        );
        assert!(
            why("{\"title\":\"a\",\"not_before\":\"soon\"}")
                .starts_with("line 1: not-before: \"soon\" is not a time")
        );
        assert_eq!(why(" \n\n"), "the file has no tasks");
    }
}
