//! The protocol of the door: one question on a line, one reply on a line, both JSON.

use std::io;

use fleet_core::problem::{Code, Outcome, Problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The longest line, in bytes: far above any honest question or page, and little enough to be held for every connection.
pub(super) const LONGEST_LINE: usize = 16 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DoorReply {
    Ok(String),
    Problem(Problem),
}

impl From<Outcome<String>> for DoorReply {
    fn from(outcome: Outcome<String>) -> Self {
        outcome.map_or_else(Self::Problem, Self::Ok)
    }
}

impl From<DoorReply> for Outcome<String> {
    fn from(reply: DoorReply) -> Self {
        match reply {
            DoorReply::Ok(answer) => Ok(answer),
            DoorReply::Problem(problem) => Err(problem),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    #[error("more than {} MiB were sent at once", LONGEST_LINE >> 20)]
    TooLong,
    #[error("what was sent is not understood: {0}")]
    Malformed(serde_json::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The next line; `None` at the end.
pub(super) async fn read<T: DeserializeOwned>(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> Result<Option<T>, Unread> {
    let mut line = Vec::new();
    // One more than allowed, to tell a line that is too long from one that just fits.
    reader.take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line).await?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => serde_json::from_slice(&line).map(Some).map_err(Unread::Malformed),
        Some(_) if line.len() > LONGEST_LINE => Err(Unread::TooLong),
        Some(_) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}

pub(super) fn line<T: Serialize>(message: &T) -> Outcome<Vec<u8>> {
    let mut line =
        serde_json::to_vec(message).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    line.push(b'\n');
    if line.len() > LONGEST_LINE {
        let message = format!("it has {} bytes, more than pass through the door of a run", line.len());
        return Err(Problem::new(Code::InvalidValue, message).hint("ask for less at a time"));
    }
    Ok(line)
}
