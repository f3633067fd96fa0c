use fleet_api::verbs::run_screen::{Answer, Request};
use fleet_host::plain;

use super::prelude::*;
use super::{elsewhere, run_logs};
use crate::terminal;

/// As many as a terminal keeps.
const MAX_LINES: u32 = 1_000;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let run = run_logs::attempt_of(engine, &request.id, request.attempt).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let max = request.lines.unwrap_or(MAX_LINES).min(MAX_LINES) as usize;
    if let Some(lines) = terminal::lines(engine.home(), run, max).await? {
        return Ok(Answer { run, interactive: true, live: true, lines });
    }
    let folder = engine.home().run(run);
    let lines = last_lines(&folder, max);
    let interactive = lines.is_some() || folder.recording().exists();
    Ok(Answer { run, interactive, live: false, lines: lines.unwrap_or_default() })
}

/// What the terminal showed at the end; none if nothing was kept.
fn last_lines(folder: &crate::home::RunFolder, max: usize) -> Option<Vec<String>> {
    let text = plain::read(&folder.last_lines()).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    let first = lines.len().saturating_sub(max);
    Some(lines[first..].to_vec())
}
