//! The agent's side of the door.

use std::io;
use std::path::{Path, PathBuf};

use fleet_api::{Answering, Client, Question};
use fleet_core::problem::{Code, Outcome, Problem};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::wire::{self, DoorReply};

/// The way from inside a run to codefleet: its keeper answers.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    /// None if its place is unknown.
    path: Option<PathBuf>,
    /// The directory of questions that name none; the workspace of the run, if left out.
    at: Option<PathBuf>,
}

impl Door {
    pub(crate) fn new(path: Option<PathBuf>, at: Option<PathBuf>) -> Self {
        Self { path, at }
    }

    async fn send(&self, question: Question) -> Outcome<String> {
        let line = wire::line(&question)?;
        let path = self.path.as_deref().ok_or_else(no_door)?;
        let stream = UnixStream::connect(path).await.map_err(|error| unreachable(path, &error))?;
        let (reading, mut writing) = stream.into_split();
        // A door that does not let us in says so, and may not wait for what we have to ask.
        let _ = writing.write_all(&line).await;
        match wire::read::<DoorReply>(&mut BufReader::new(reading)).await {
            Ok(Some(reply)) => reply.into(),
            Ok(None) | Err(wire::Unread::Io(_)) => Err(run_is_over()),
            Err(unread) => Err(Problem::new(Code::Internal, unread.to_string())),
        }
    }
}

impl Client for Door {
    fn ask(&self, question: Question) -> Answering<'_> {
        let at = question.at.clone().or_else(|| self.at.clone());
        Box::pin(self.send(Question { at, ..question }))
    }
}

/// The answer to callers that still wait when the run ends.
pub(super) fn run_is_over() -> Problem {
    Problem::new(Code::DoorClosed, "the run ended before codefleet answered")
        .hint("what was asked for may have been done; a person can see it with `fleet show`")
}

fn no_door() -> Problem {
    Problem::new(
        Code::DoorClosed,
        "this is inside a run, and only its agent can ask codefleet, while it works",
    )
    .hint("a set-up command or a check cannot; unset FLEET_RUN if this is not inside a run at all")
}

fn unreachable(path: &Path, error: &io::Error) -> Problem {
    let is_gone = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused);
    if is_gone {
        return Problem::new(Code::DoorClosed, "this run has ended, or its keeper was killed")
            .hint("stop here; codefleet keeps the work and decides what comes next");
    }
    let message = format!("codefleet cannot be reached from here: {}: {error}", path.display());
    Problem::new(Code::DoorClosed, message)
        .hint("a sandbox may not let you connect: say it in your final message instead")
}
