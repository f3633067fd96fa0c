//! The end of what an agent printed, never more than a client can hold.

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::Engine;
use fleet_engine::verbs::run_logs::{self, Piece, Request, Stream};

/// So much of a log is told at once.
const MOST_BYTES: usize = 64 * 1024;

/// Which end.
pub(super) struct Tail<'a> {
    pub(super) run: &'a str,
    pub(super) stream: Stream,
    pub(super) lines: usize,
}

/// Reads it: the last lines, and of them the last [`MOST_BYTES`].
pub(super) async fn read(engine: &Engine, tail: &Tail<'_>) -> Outcome<String> {
    let request = Request { id: tail.run.to_owned(), attempt: None, stream: tail.stream };
    let log = run_logs::find(engine, &request).await?;
    let lines = tail.lines;
    let read = tokio::task::spawn_blocking(move || -> Outcome<String> {
        let mut reader = log.bytes(Some(lines))?;
        let mut kept: Vec<u8> = Vec::new();
        let mut cut = false;
        while let Some(piece) = log.piece(&mut reader)? {
            match piece {
                Piece::Bytes { bytes, .. } => kept.extend(bytes),
                Piece::Gap { left_out, .. } => {
                    kept.extend(format!("\n… {left_out} bytes were not kept …\n").bytes());
                }
            }
            if kept.len() > MOST_BYTES {
                kept.drain(..kept.len() - MOST_BYTES);
                cut = true;
            }
        }
        let text = String::from_utf8_lossy(&kept);
        Ok(if cut { format!("…{}", text.trim_start_matches('\u{fffd}')) } else { text.into_owned() })
    });
    read.await.map_err(|error| Problem::new(Code::Internal, error.to_string()))?
}

/// The same; a sentence where there is none to be had.
pub(super) async fn end(engine: &Engine, tail: Tail<'_>) -> Outcome<String> {
    match read(engine, &tail).await {
        Err(problem) if problem.code == Code::NotHere => Ok(format!("({})", problem.message)),
        other => other,
    }
}
