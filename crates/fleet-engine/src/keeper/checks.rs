//! The checks of a run: commands that must succeed on the agent's work, one after the other, with one time limit and
//! one log for all. The first failure ends them.

use fleet_core::outcome::{CheckExit, CheckResult, LONGEST_TAIL, StopCause};
use fleet_core::run::StopKind;
use fleet_core::supervision::Order;
use fleet_core::task::TaskSpec;
use fleet_core::time::Span;
use fleet_host::process::Exit;
use tokio::time::Instant;

use super::Keeper;
use super::command::{Ran, ShellCommand, end_of, tail};
use super::prepare::PreparedRun;
use super::stage::StageRun;
use crate::clock;
use crate::config::Config;
use crate::home::write_private;

/// How many lines of its output a check result keeps.
const TAIL: usize = 40;

/// What must succeed over the work of a task, in this order: what its stage says; or what the configuration says for work
/// that may change files, and what its author says.
pub(crate) fn of_task(stage: Option<&StageRun>, task: &TaskSpec, config: &Config) -> Vec<Vec<String>> {
    let line = |line: &String| ["sh", "-c", line].map(ToOwned::to_owned).to_vec();
    match stage {
        Some(stage) => stage.checks().to_vec(),
        None if task.read_only => task.checks.argvs().to_vec(),
        None => {
            let of_project = config.workspaces().checks.iter().map(line);
            of_project.chain(task.checks.argvs().iter().cloned()).collect()
        }
    }
}

#[derive(Default)]
pub(super) struct ChecksOutcome {
    pub(super) receipts: Vec<CheckResult>,
    /// What stopped the rest of them, if something did.
    pub(super) stopped: Option<StopCause>,
}

impl Keeper<'_> {
    /// Runs the checks, and ends all that they leave running.
    pub(super) async fn check(&self, prepared: &PreparedRun, checks: &[Vec<String>]) -> ChecksOutcome {
        // For a take-over: what is uncommitted from here on is not the agent's.
        let _ = write_private(&self.folder.checking(), b"");
        let deadline = Instant::now() + self.config.workspaces().check_time;
        let mut checked = ChecksOutcome::default();
        for argv in checks {
            match self.run_check(prepared, argv, deadline).await {
                Some(receipt) => checked.receipts.push(receipt),
                None => checked.stopped = Some(self.stop_ordered()),
            }
            if checked.stopped.is_some() || !checked.receipts.iter().all(CheckResult::is_good) {
                break;
            }
        }
        self.end_processes().await;
        checked
    }

    /// Runs one of them; nothing if the whole run is to stop.
    async fn run_check(
        &self,
        prepared: &PreparedRun,
        argv: &[String],
        deadline: Instant,
    ) -> Option<CheckResult> {
        let (log, begun) = (self.folder.checks_log(), clock::uptime());
        // What the one before said is in the same log.
        let behind = end_of(&log);
        let exit = match self.command(prepared, ShellCommand::argv(argv, &log, deadline)).await {
            Ok(Ran::Ended(Exit::Code(code))) => CheckExit::Code(code),
            Ok(Ran::Ended(Exit::Signal(signal))) => CheckExit::Signal(signal),
            Ok(Ran::TimedOut) => {
                let limit = Span(self.config.workspaces().check_time);
                CheckExit::TimedOut(format!("was not done when the time for checks, {limit}, was over"))
            }
            Ok(Ran::Stopped) => return None,
            Err(why) => CheckExit::NotStarted(why),
        };
        Some(CheckResult {
            argv: argv.to_vec(),
            exit,
            seconds: clock::uptime().saturating_sub(begun).as_secs(),
            output_tail: tail(&log, behind, TAIL, LONGEST_TAIL),
        })
    }

    /// The order that came while they ran. A run that was lost is not recorded by us at all.
    fn stop_ordered(&self) -> StopCause {
        match &*self.orders.borrow() {
            Some(Order::Stop(stop)) if stop.kind == StopKind::Cancel => StopCause::Killed(stop.why.clone()),
            Some(Order::Stop(stop)) => StopCause::Shutdown(stop.why.clone()),
            Some(Order::Lost) | None => StopCause::Shutdown("the run was lost".to_owned()),
        }
    }
}
