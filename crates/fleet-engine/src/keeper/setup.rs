//! The set-up commands of a workspace: one after the other, with one time limit and one log for all.

use std::time::Duration;

use fleet_agents::Stream;
use fleet_core::redact::Redactor;
use fleet_core::run::{Ending, Reason};
use fleet_core::task::Task;
use fleet_core::time::Span;
use fleet_host::log::{CappedLog, LogReader, Piece};
use fleet_host::process::{self, Exit, Input, Launch};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until, timeout};

use super::prepare::Prepared;
use super::pump::{Piece as Printed, Pump, Source};
use super::{Keeper, blocking};
use crate::problems::chain;

/// The end of the log is part of the message: so many lines of it.
const TAIL: usize = 5;
/// And so many bytes, more or less.
const LONGEST_TAIL: usize = 4 * 1024;
/// Children that ended unnoticed are looked for so often.
const LOOK: Duration = Duration::from_secs(1);

/// The metadata of a task that does without set-up, copied files and ports.
pub(crate) const SKIP: (&str, &str) = ("setup", "skip");

/// Whether a task does without them.
pub(super) fn is_skipped(task: &Task) -> bool {
    task.spec.meta.iter().any(|(key, value)| (key.as_str(), value.as_str()) == SKIP)
}

/// How a command came to its end.
enum Ran {
    Ended(Exit),
    TimedOut,
    Stopped,
}

/// Runs the commands; the first that fails ends the run.
pub(super) async fn run(keeper: &Keeper<'_>, prepared: &Prepared) -> Result<(), Ending> {
    let limit = keeper.config.workspaces().setup_time;
    let deadline = Instant::now() + limit;
    for command in &keeper.config.workspaces().setup {
        let failed = |why: String| {
            Err(Ending::Failed(Reason::SetupFailed, format!("the set-up command `{command}` {why}")))
        };
        match one(keeper, prepared, command, deadline).await {
            Ok(Ran::Ended(Exit::Code(0))) => {}
            Ok(Ran::Ended(Exit::Code(code))) => {
                return failed(format!("ended with exit status {code}: {}", tail(keeper)));
            }
            Ok(Ran::Ended(Exit::Signal(signal))) => return failed(format!("was ended by signal {signal}")),
            Ok(Ran::TimedOut) => return failed(format!("was not done after {}", Span(limit))),
            Ok(Ran::Stopped) => {
                return Err(keeper.ordered_ending().unwrap_or_else(|| Ending::Released(String::new())));
            }
            Err(why) => return failed(format!("could not be run: {why}")),
        }
    }
    Ok(())
}

async fn one(
    keeper: &Keeper<'_>,
    prepared: &Prepared,
    command: &str,
    deadline: Instant,
) -> Result<Ran, String> {
    let launch = Launch {
        program: "/bin/sh".into(),
        // One log, in the order in which things were said.
        args: vec!["-c".into(), format!("exec 2>&1\n{command}").into()],
        env: keeper.environment(prepared, None),
        cwd: prepared.workspace.path().to_owned(),
        stdin: Input::Null,
        group: None,
    };
    let mut children = signal(SignalKind::child()).map_err(|error| error.to_string())?;
    let started = process::launch(&launch).map_err(|error| chain(&error))?;
    let tree = keeper.tree(started.identity.clone());
    let log = CappedLog::open(&keeper.folder.setup_log(), keeper.config.limits().log)
        .map_err(|error| error.to_string())?;
    let redactor = Redactor::new(keeper.secrets());
    let mut pump = Pump::new();
    pump.add(Source { stream: Stream::Out, pipe: started.stdout, log, redactor })
        .map_err(|error| error.to_string())?;
    let mut orders = keeper.orders.clone();
    let mut is_open = true;
    let ran = loop {
        if let Some((_, exit)) = process::reap().into_iter().find(|(pid, _)| *pid == started.identity.pid) {
            break Ran::Ended(exit);
        }
        if orders.borrow().is_some() {
            break Ran::Stopped;
        }
        tokio::select! {
            piece = pump.pieces.recv(), if is_open => is_open = is_more(piece.as_ref()),
            _ = children.recv() => {}
            _ = orders.changed() => {}
            () = tokio::time::sleep(LOOK) => {}
            () = sleep_until(deadline) => break Ran::TimedOut,
        }
    };
    let ladder = keeper.ladder();
    // What a set-up command leaves running (a database, a watcher) is the run's, and goes on until that ends.
    if !matches!(ran, Ran::Ended(Exit::Code(0))) {
        let _ = blocking(move || tree.stop(&ladder, &mut || drop(process::reap()))).await;
        // Its last words are in the pipe, perhaps, and belong into the message.
        let rest = async { while is_more(pump.pieces.recv().await.as_ref()) {} };
        if is_open {
            let _ = timeout(LOOK, rest).await;
        }
    }
    Ok(ran)
}

/// Whether the pipe was not at its end yet.
const fn is_more(piece: Option<&Printed>) -> bool {
    matches!(piece, Some(Printed::Bytes(..)))
}

/// The last words of the log.
fn tail(keeper: &Keeper<'_>) -> String {
    let last = || -> std::io::Result<String> {
        let mut log = LogReader::at_last_lines(&keeper.folder.setup_log(), TAIL)?;
        let mut text = String::new();
        while let Some(piece) = log.next_piece(LONGEST_TAIL)? {
            if let Piece::Bytes { bytes, .. } = piece {
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
            // A line may be as long as the log.
            if text.len() >= LONGEST_TAIL {
                break;
            }
        }
        Ok(text)
    };
    last().unwrap_or_default().trim().to_owned()
}
