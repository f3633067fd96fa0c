//! What the agent of a run printed: decoded for people, or byte by byte; while it runs and afterwards.

mod decode;
mod page;

use std::path::PathBuf;
use std::time::Duration;

use fleet_agents::Registry;
use fleet_api::verbs::run_logs::{Answer, LogEnd, LogStream, Request};
use fleet_core::outcome::{ResultStatus, RunResult};
use fleet_host::log::{LogPiece, LogReader};
use fleet_host::process::Identity;

pub(crate) use self::page::OpenLogs;
use self::page::Reading;
use super::prelude::*;
use crate::keeper::Talk;
use crate::verbs::elsewhere::ThisPlace;
use crate::verbs::question::asked;
use crate::waiting::Waiting;

#[derive(Debug, Clone)]
pub(crate) struct RunLog {
    run: Run,
    result: Option<RunResult>,
    stream: LogStream,
    path: PathBuf,
    errors: PathBuf,
    prompt: PathBuf,
    talk: Option<Talk>,
    agents: Registry,
}

/// How often a log is checked: writing to it notifies no one.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    let log = find(engine, &request).await?;
    let is_asked = log.result.as_ref().is_some_and(|result| result.status == ResultStatus::Asked);
    let (id, mut end, has_errors) = (log.run.id, end_of(&log.run, is_asked), log.has_errors());
    let mut reading = Reading::begin(engine, log, &request)?;
    loop {
        // What is known of the end was known before the rest is read, so nothing is missed.
        let is_last = end.is_some() || request.wait_seconds.is_none();
        let (read, page) = blocking(move || {
            let page = reading.page(is_last);
            (reading, page)
        })
        .await?;
        let page = page?;
        if !page.is_empty() || page.more || end.is_some() || !waiting.goes_on_for(POLL_INTERVAL).await {
            let (next, is_empty) = (read.next(), read.is_empty());
            let end = end.filter(|_| !page.more);
            read.keep(engine, is_last && !page.more);
            let (entries, pieces, more) = (page.entries, page.pieces, page.more);
            return Ok(Answer { run: id, entries, pieces, next, more, end, is_empty, has_errors });
        }
        reading = read;
        let detail = engine.call(ops::GetRun { run: id }).await?;
        end = end_of(&detail.run, detail.result.as_deref().is_some_and(asked));
    }
}

/// Why nothing more comes, if that is so. What was written before can still be read.
fn end_of(run: &Run, is_asked: bool) -> Option<LogEnd> {
    if !run.state.is_live() && is_asked {
        return Some(LogEnd::Asked);
    }
    if !run.state.is_live() {
        return Some(LogEnd::Ended(run.state()));
    }
    let keeper: Identity = serde_json::from_str(run.keeper.as_deref()?).ok()?;
    (!keeper.is_alive()).then_some(LogEnd::Deserted)
}

pub(super) async fn find(engine: &Engine, request: &Request) -> Outcome<RunLog> {
    let id = attempt_of(engine, &request.id, request.attempt).await?;
    let detail = engine.call(ops::GetRun { run: id }).await?;
    let folder = engine.home().run(id);
    if let Some(place) = ThisPlace::of(engine)?.place_of(&detail.run) {
        let why = format!("run {id} worked {place}: its logs are there, not here");
        return Err(Problem::new(Code::NotHere, why)
            .hint(format!("`fleet show {id}` shows what is known about it here")));
    }
    if !detail.run.state.is_live() && !folder.dir().exists() {
        return Err(Problem::new(Code::NotHere, format!("the logs of run {id} have been removed"))
            .hint(format!("`fleet show {id}` shows what is still known about it")));
    }
    Ok(RunLog {
        result: detail.result.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        stream: request.stream,
        path: match request.stream {
            LogStream::Out => folder.stdout(),
            LogStream::Err => folder.stderr(),
            LogStream::Prompt => folder.prompt(),
            LogStream::Setup => folder.setup_log(),
        },
        errors: folder.stderr(),
        prompt: folder.prompt(),
        talk: Talk::of(&folder),
        agents: engine.agents()?,
        run: detail.run,
    })
}

/// The run that was named, or another attempt at its task.
pub(super) async fn attempt_of(engine: &Engine, typed: &str, attempt: Option<i64>) -> Outcome<RunId> {
    let run = engine.run_id(typed).await?;
    let Some(attempt) = attempt else { return Ok(run) };
    let task = engine.call(ops::GetRun { run }).await?.run.task;
    let runs = engine.call(ops::ListRuns::of_task(task)).await?;
    let found = runs.iter().find(|listed| listed.run.attempt == attempt);
    found.map(|listed| listed.run.id).ok_or_else(|| {
        let newest = runs.first().map_or(0, |listed| listed.run.attempt);
        Problem::new(
            Code::RunNotFound,
            format!("there is no attempt {attempt} at task {task}: the newest is {newest}"),
        )
        .hint(format!("`fleet task show {task}` lists its runs"))
    })
}

impl RunLog {
    fn has_errors(&self) -> bool {
        std::fs::metadata(&self.errors).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Its bytes, from a position or from the last N lines.
    fn bytes(&self, after: Option<u64>, lines: Option<u32>) -> Outcome<LogReader> {
        match (after, lines) {
            (Some(after), _) => Ok(LogReader::starting_at(&self.path, after)),
            (None, None) => Ok(LogReader::new(&self.path)),
            (None, Some(lines)) => {
                LogReader::at_last_lines(&self.path, lines as usize).map_err(problems::at(&self.path))
            }
        }
    }

    /// The next bytes of it; `None` at its present end.
    fn piece(&self, reader: &mut LogReader) -> Outcome<Option<LogPiece>> {
        reader.next_piece(CHUNK_BYTES).map_err(problems::at(&self.path))
    }
}

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;
