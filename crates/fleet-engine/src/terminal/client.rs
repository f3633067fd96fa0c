//! The side of those who look at an agent's terminal.

use std::path::Path;
use std::time::Duration;

use fleet_api::verbs::run_answer::PermissionReply;
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::wire::{self, FrameKind, Hello, Reply};
use crate::home::Home;
use crate::sockets::{self, RunSocket};

/// A keeper that does not answer by then is stopped, or very busy.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to the terminal of a run; none if that has no terminal now.
pub(super) async fn connect(home: &Home, run: RunId) -> Option<UnixStream> {
    connect_to(&sockets::find(home, run, RunSocket::Terminal)?).await
}

async fn connect_to(path: &Path) -> Option<UnixStream> {
    timeout(ANSWER_TIMEOUT, UnixStream::connect(path)).await.ok()?.ok()
}

/// The last lines of the terminal of a run, the screen included; none if that has no terminal now.
pub(crate) async fn lines(home: &Home, run: RunId, max: usize) -> Outcome<Option<Vec<String>>> {
    match ask(home, run, &Hello::Lines { max }).await? {
        Some(Reply::Lines(lines)) => Ok(Some(lines)),
        Some(Reply::Problem(problem)) => Err(problem),
        Some(Reply::Answered) | None => Ok(None),
    }
}

/// Answers the dialog on the screen of a run's agent. `false` if the run has no terminal now.
pub(crate) async fn answer(home: &Home, run: RunId, answer: PermissionReply) -> Outcome<bool> {
    match ask(home, run, &Hello::Answer(answer)).await? {
        Some(Reply::Answered) => Ok(true),
        Some(Reply::Problem(problem)) => Err(problem),
        Some(Reply::Lines(_)) | None => Ok(false),
    }
}

async fn ask(home: &Home, run: RunId, hello: &Hello) -> Outcome<Option<Reply>> {
    let Some(mut stream) = connect(home, run).await else { return Ok(None) };
    let asked = async {
        wire::write_json(&mut stream, FrameKind::Hello, hello).await?;
        match wire::read(&mut stream).await? {
            Some(frame) if frame.kind == FrameKind::Reply => frame.read().map(Some),
            _ => Ok(None),
        }
    };
    match timeout(ANSWER_TIMEOUT, asked).await {
        Ok(answer) => answer.map_err(|error| wire::broken(&error)),
        Err(_) => Err(Problem::new(Code::Io, format!("the keeper of run {run} does not answer"))
            .hint("`fleet doctor` finds keepers that hang")),
    }
}
