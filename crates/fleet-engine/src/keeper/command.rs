//! A command in the workspace that is not the agent: its output to a capped log, its time bounded, ended by orders.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use fleet_agents::Stream;
use fleet_core::redact::Redactor;
use fleet_host::log::{CappedLog, LogPiece, LogReader};
use fleet_host::process::{self, Exit, Launch, StdinFrom};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until, timeout};

use super::prepare::PreparedRun;
use super::pump::{AgentOutput as Printed, Pump, PumpSource};
use super::{Keeper, blocking};
use crate::problems::chain;
use crate::stuck::LONGEST_STEP;

/// How often the keeper looks for children that ended unnoticed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The output of a command that succeeded is in the log after this.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

pub(super) enum Ran {
    Ended(Exit),
    TimedOut,
    Stopped,
}

/// What to run: something for `/bin/sh`, with arguments, and where its words go.
pub(super) struct ShellCommand<'a> {
    pub(super) script: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) log: &'a Path,
    pub(super) deadline: Instant,
}

impl<'a> ShellCommand<'a> {
    /// A line as a person types it.
    pub(super) fn line(line: &str, log: &'a Path, deadline: Instant) -> Self {
        // One log, in the order in which things were said.
        Self { script: format!("exec 2>&1\n{line}").into(), args: Vec::new(), log, deadline }
    }

    /// A program with its arguments, which no shell looks at.
    pub(super) fn argv(argv: &[String], log: &'a Path, deadline: Instant) -> Self {
        let script = "exec 2>&1\nexec \"$@\"".into();
        Self { script, args: argv.iter().map(OsString::from).collect(), log, deadline }
    }
}

impl Keeper<'_> {
    /// Runs a command in the workspace. Processes that it leaves behind when it succeeds keep running.
    pub(super) async fn command(
        &self,
        prepared: &PreparedRun,
        command: ShellCommand<'_>,
    ) -> Result<Ran, String> {
        let launch = Launch {
            program: "/bin/sh".into(),
            args: ["-c".into(), command.script, "sh".into()].into_iter().chain(command.args).collect(),
            env: self.environment(prepared, None),
            cwd: prepared.workspace.path().to_owned(),
            stdin: StdinFrom::Null,
        };
        let mut children = signal(SignalKind::child()).map_err(|error| error.to_string())?;
        let started = process::launch(&launch).map_err(|error| chain(&error))?;
        let tree = self.tree(started.identity.clone());
        let log =
            CappedLog::open(command.log, self.config.limits().log).map_err(|error| error.to_string())?;
        let redactor = Redactor::new(self.secrets());
        let mut pump = Pump::new();
        pump.add(PumpSource { stream: Stream::Out, pipe: started.stdout, log, redactor })
            .map_err(|error| error.to_string())?;
        let mut orders = self.orders.clone();
        let mut is_open = true;
        self.guard.pause();
        let ran = loop {
            if let Some((_, exit)) = process::reap().into_iter().find(|(pid, _)| *pid == started.identity.pid)
            {
                break Ran::Ended(exit);
            }
            if orders.borrow().is_some() {
                break Ran::Stopped;
            }
            tokio::select! {
                piece = pump.pieces.recv(), if is_open => is_open = is_more(piece.as_ref()),
                _ = children.recv() => {}
                _ = orders.changed() => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = sleep_until(command.deadline) => break Ran::TimedOut,
            }
        };
        self.guard.within(LONGEST_STEP);
        let is_good = matches!(ran, Ran::Ended(Exit::Code(0)));
        if !is_good {
            let sequence = self.stop_sequence();
            let _ = blocking(move || tree.stop(&sequence, &mut || drop(process::reap()))).await;
        }
        // Its last words are in the pipe, perhaps, and belong into the message. What it left running may hold the pipe.
        let rest = async { while is_more(pump.pieces.recv().await.as_ref()) {} };
        if is_open {
            let _ = timeout(if is_good { DRAIN_TIMEOUT } else { POLL_INTERVAL }, rest).await;
        }
        Ok(ran)
    }
}

/// Whether the pipe was not at its end yet.
const fn is_more(piece: Option<&Printed>) -> bool {
    matches!(piece, Some(Printed::Bytes(..)))
}

pub(super) fn end_of(log: &Path) -> u64 {
    LogReader::new(log).end().unwrap_or(0)
}

/// The end of a log after this position: at most this many lines and bytes.
pub(super) fn tail(log: &Path, behind: u64, lines: usize, bytes: usize) -> String {
    let last = || -> std::io::Result<String> {
        let found = LogReader::at_last_lines(log, lines)?;
        // A line may be as long as the log.
        let least = found.end()?.saturating_sub(bytes as u64);
        let mut log = LogReader::starting_at(log, found.position().max(least).max(behind));
        let mut said = Vec::new();
        while let Some(piece) = log.next_piece(bytes)?
            && said.len() < bytes
        {
            if let LogPiece::Bytes { bytes, .. } = piece {
                said.extend(bytes);
            }
        }
        said.truncate(bytes);
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    };
    last().unwrap_or_default()
}
