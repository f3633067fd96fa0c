//! The set-up commands of a workspace: one after the other, with one time limit and one log for all.

use fleet_core::run::{Ending, Reason};
use fleet_core::time::Span;
use fleet_host::process::Exit;
use tokio::time::Instant;

use super::Keeper;
use super::command::{Ran, ShellCommand, tail};
use super::prepare::PreparedRun;

/// The message of a failure quotes this many lines of the log's end.
const TAIL: usize = 5;
/// In bytes, about.
const LONGEST_TAIL: usize = 4 * 1024;

/// Runs the commands; the first that fails ends the run. What they leave running (a database, a watcher) is the run's, and
/// goes on until that ends.
pub(super) async fn run(keeper: &Keeper<'_>, prepared: &PreparedRun) -> Result<(), Ending> {
    let (limit, log) = (keeper.config.workspaces().setup_time, keeper.folder.setup_log());
    let deadline = Instant::now() + limit;
    for command in &keeper.config.workspaces().setup {
        let failed = |why: String| {
            Err(Ending::Failed(Reason::SetupFailed, format!("the set-up command `{command}` {why}")))
        };
        match keeper.command(prepared, ShellCommand::line(command, &log, deadline)).await {
            Ok(Ran::Ended(Exit::Code(0))) => {}
            Ok(Ran::Ended(Exit::Code(code))) => {
                return failed(format!(
                    "ended with exit status {code}: {}",
                    tail(&log, 0, TAIL, LONGEST_TAIL)
                ));
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
