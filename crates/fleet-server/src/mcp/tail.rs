//! The end of what an agent printed, never more than a client can hold.

use fleet_api::Client;
use fleet_api::verbs::run_logs::{LogStream, OutputPiece, Request};
use fleet_core::problem::{Code, Outcome};

/// How much of a log is shown at once.
const MAX_BYTES: usize = 64 * 1024;

pub(super) struct LogTail<'a> {
    pub(super) run: &'a str,
    pub(super) stream: LogStream,
    pub(super) lines: u32,
}

/// Reads it: the last lines, and of them the last [`MAX_BYTES`].
pub(super) async fn read(client: &dyn Client, tail: &LogTail<'_>) -> Outcome<String> {
    let (id, stream, last_lines) = (tail.run.to_owned(), tail.stream, Some(tail.lines));
    let mut request = Request { id, stream, raw: true, last_lines, ..Request::default() };
    let (mut kept, mut cut): (Vec<u8>, bool) = (Vec::new(), false);
    loop {
        let page = fleet_api::call(client, None, &request).await?;
        for piece in page.pieces {
            match piece {
                OutputPiece::Bytes(bytes) => kept.extend(bytes.0),
                OutputPiece::Gap(left_out) => {
                    kept.extend(format!("\n… {left_out} bytes were not kept …\n").bytes());
                }
            }
        }
        if kept.len() > MAX_BYTES {
            kept.drain(..kept.len() - MAX_BYTES);
            cut = true;
        }
        if !page.more {
            break;
        }
        request.after = Some(page.next);
    }
    let text = String::from_utf8_lossy(&kept);
    let text = text.trim_end_matches('\n');
    Ok(if cut { format!("…{}", text.trim_start_matches('\u{fffd}')) } else { text.to_owned() })
}

/// The ends of standard output and standard error; a sentence where there is none.
pub(super) async fn of_both(
    client: &dyn Client,
    run: &str,
    lines: u32,
) -> Outcome<(Option<String>, Option<String>)> {
    let end = |stream| end(client, LogTail { run, stream, lines });
    Ok((Some(end(LogStream::Out).await?), Some(end(LogStream::Err).await?)))
}

async fn end(client: &dyn Client, tail: LogTail<'_>) -> Outcome<String> {
    match read(client, &tail).await {
        Err(problem) if problem.code == Code::NotHere => Ok(format!("({problem})")),
        other => other,
    }
}
