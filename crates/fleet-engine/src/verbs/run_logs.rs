//! What the agent of a run printed: decoded for people, or byte by byte; while it runs and afterwards.

mod decode;
mod follow;

use std::path::PathBuf;

use fleet_agents::Registry;
use fleet_core::id::RunId;
use fleet_core::outcome::RunResult;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
pub use fleet_host::log::{LogReader, Piece};
use fleet_store::ops;

pub use decode::{Decoded, LogEntry};
pub use follow::{End, Following};

use crate::home::Home;
use crate::keeper::Talk;
use crate::verbs::elsewhere::Here;
use crate::{Engine, problems};

/// Which log.
#[derive(Debug, Clone)]
pub struct Request {
    /// The run: its id, or that of its task, or its branch.
    pub id: String,
    /// This attempt at the task instead of the newest.
    pub attempt: Option<i64>,
    /// Which of its streams.
    pub stream: Stream,
}

/// A stream of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, which is where agents say what they do.
    Out,
    /// Standard error.
    Err,
}

/// A log that was found.
#[derive(Debug, Clone)]
pub struct Log {
    run: Run,
    result: Option<RunResult>,
    stream: Stream,
    path: PathBuf,
    errors: PathBuf,
    prompt: PathBuf,
    talk: Option<Talk>,
    agents: Registry,
}

/// More attempts at one task than anybody makes.
const MOST_ATTEMPTS: i64 = 1_000;

/// Finds the log.
pub async fn find(engine: &Engine, request: &Request) -> Outcome<Log> {
    let mut id = engine.run_id(&request.id).await?;
    if let Some(attempt) = request.attempt {
        id = attempt_of(engine, id, attempt).await?;
    }
    let detail = engine.call(ops::GetRun { run: id }).await?;
    let home = Home::new(engine.home());
    let folder = home.run(id);
    if let Some(place) = Here::of(engine)?.place_of(&detail.run) {
        let why = format!("run {id} worked {place}: what its agent printed is there, not here");
        return Err(Problem::new(Code::NotHere, why)
            .hint(format!("`fleet show {id}` shows what is known of it here")));
    }
    if !detail.run.state.is_live() && !folder.dir().exists() {
        return Err(Problem::new(
            Code::NotHere,
            format!("what the agent of run {id} printed is not kept any more"),
        )
        .hint(format!("`fleet show {id}` shows what is still known of it")));
    }
    Ok(Log {
        result: detail.result.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        stream: request.stream,
        path: if request.stream == Stream::Out { folder.stdout() } else { folder.stderr() },
        errors: folder.stderr(),
        prompt: folder.prompt(),
        talk: Talk::of(&folder),
        agents: engine.agents()?,
        run: detail.run,
    })
}

/// Another attempt at the same task.
async fn attempt_of(engine: &Engine, run: RunId, attempt: i64) -> Outcome<RunId> {
    let task = engine.call(ops::GetRun { run }).await?.run.task;
    let filter = ops::RunFilter { task: Some(task), ..Default::default() };
    let runs = engine.call(ops::ListRuns { filter, limit: MOST_ATTEMPTS }).await?;
    let found = runs.iter().find(|listed| listed.run.fence == attempt);
    found.map(|listed| listed.run.id).ok_or_else(|| {
        let newest = runs.first().map_or(0, |listed| listed.run.fence);
        Problem::new(
            Code::RunNotFound,
            format!("there is no attempt {attempt} at task {task}: the newest is {newest}"),
        )
        .hint(format!("`fleet task show {task}` lists its runs"))
    })
}

impl Log {
    /// The run.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// Whether the agent printed anything to standard error.
    pub fn has_errors(&self) -> bool {
        std::fs::metadata(&self.errors).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Its bytes, from the beginning or from the last so many lines.
    pub fn bytes(&self, lines: Option<usize>) -> Outcome<LogReader> {
        match lines {
            None => Ok(LogReader::new(&self.path)),
            Some(lines) => {
                LogReader::at_last_lines(&self.path, lines).map_err(|error| problems::io(&self.path, &error))
            }
        }
    }

    /// The next bytes of it; `None` at its present end.
    pub fn piece(&self, reader: &mut LogReader) -> Outcome<Option<Piece>> {
        reader.next_piece(PIECE).map_err(|error| problems::io(&self.path, &error))
    }
}

/// So much is read at once.
const PIECE: usize = 64 * 1024;
