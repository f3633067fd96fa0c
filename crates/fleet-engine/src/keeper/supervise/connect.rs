//! Connecting the keeper to an agent that was started: its pipes, or its terminal.

use std::collections::VecDeque;
use std::io::PipeReader;
use std::sync::Arc;

use fleet_agents::{Adapter, Ask, Stream};
use fleet_core::supervision::{Asking, Supervision};
use fleet_host::log::CappedLog;
use fleet_host::process::{ProcessTree, Terminal};
use fleet_host::recording::Recording;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::Supervisor;
use super::record::RecordReader;
use super::terminal::SupervisedTerminal;
use crate::clock;
use crate::keeper::Keeper;
use crate::keeper::agent::StartedAgent;
use crate::keeper::agent_stdin::AgentStdin;
use crate::keeper::freeze::Freezer;
use crate::keeper::journal::Journal;
use crate::keeper::mailbox::Mailbox;
use crate::keeper::prepare::PreparedRun;
use crate::keeper::pump::{Pump, PumpSource};
use crate::terminal::{Hub, OpenTerminal, Recorder, Secrets, TerminalInput, first_size};

/// What the hooks of the agent say, and where its keeper begins to type.
pub(super) struct Hooks {
    pub(super) calls: mpsc::Receiver<Vec<u8>>,
    pub(super) first_prompt: Option<String>,
}

pub(super) struct AgentProcess<'k> {
    pub(super) adapter: &'k dyn Adapter,
    pub(super) ask: Option<Ask>,
    pub(super) started: StartedAgent,
    pub(super) hooks: Hooks,
    pub(super) tree: ProcessTree,
    pub(super) mailbox: Mailbox,
    pub(super) record: RecordReader,
}

impl Keeper<'_> {
    /// What its agent asks people, from the beginning: it may be faster than its keeper.
    fn asking(&self) -> watch::Receiver<Asking> {
        let mut asking = self.asking.watch();
        asking.mark_changed();
        asking
    }

    /// Reads the pipes of an agent. Where its output begins in the log.
    fn read_pipes(
        &self,
        pump: &Pump,
        stdout: PipeReader,
        stderr: PipeReader,
        secrets: &Secrets,
    ) -> Result<u64, String> {
        let cap = self.config.limits().log;
        let path = self.folder.stdout();
        let out = CappedLog::open(&path, cap).map_err(|error| format!("{}: {error}", path.display()))?;
        let position = out.position();
        let err = CappedLog::when_written(&self.folder.stderr(), cap);
        for (stream, pipe, log) in [(Stream::Out, stdout, out), (Stream::Err, stderr, err)] {
            let source = PumpSource { stream, pipe, log, redactor: secrets.redactor() };
            pump.add(source).map_err(|error| error.to_string())?;
        }
        Ok(position)
    }

    /// Shows the terminal of an agent to whoever looks, and records it.
    fn show_terminal(
        &self,
        pump: &Pump,
        terminal: Terminal,
        secrets: &Secrets,
        hooks: Hooks,
    ) -> Result<SupervisedTerminal, String> {
        let cannot = |error: std::io::Error| format!("its terminal: {error}");
        let title = self.task.spec.title.as_str();
        let cap = self.config.limits().log;
        // A recording is nice to have.
        let recording = Recording::create(&self.folder.recording(), first_size(), title, cap);
        let recorder = recording.and_then(|recording| Recorder::start(recording, secrets.redactor())).ok();
        let input = TerminalInput::new(terminal.writer()).map_err(cannot)?;
        let reader = terminal.reader();
        let hub = Arc::new(Hub::new(terminal, input, recorder, secrets.clone()));
        let open = OpenTerminal::open(&self.home, self.run.id, Arc::clone(&hub)).map_err(cannot)?;
        pump.add_terminal(reader, Arc::clone(&hub)).map_err(cannot)?;
        let prompts = self.folder.scratch().join("messages");
        Ok(SupervisedTerminal::new(hub, open, hooks, prompts, secrets.clone()))
    }

    /// Where its output begins in the log, if it has one; what is written to it; its terminal.
    fn connect(
        &self,
        pump: &Pump,
        started: StartedAgent,
        hooks: Hooks,
        secrets: &Secrets,
    ) -> Result<(Option<u64>, AgentStdin, Option<SupervisedTerminal>), String> {
        let stdin = |pipe| AgentStdin::new(pipe).map_err(|error| error.to_string());
        match started {
            StartedAgent::Piped(started) => {
                let position = self.read_pipes(pump, started.stdout, started.stderr, secrets)?;
                Ok((Some(position), stdin(started.stdin)?, None))
            }
            StartedAgent::InTerminal(started) => {
                let terminal = self.show_terminal(pump, started.terminal, secrets, hooks)?;
                Ok((None, stdin(None)?, Some(terminal)))
            }
        }
    }

    pub(super) fn supervisor<'k>(
        &'k self,
        AgentProcess { adapter, ask, started, hooks, tree, mailbox, record }: AgentProcess<'k>,
        journal: Journal,
        prepared: &PreparedRun,
        secrets: &Secrets,
    ) -> Result<Supervisor<'k>, String> {
        let (pump, root) = (Pump::new(), started.identity().pid);
        let (position, stdin, terminal) = self.connect(&pump, started, hooks, secrets)?;
        let journal = position.into_iter().fold(journal, Journal::after_position);
        let mut orders = self.orders.clone();
        // One that came earlier counts as well.
        orders.mark_changed();
        Ok(Supervisor {
            keeper: self,
            adapter,
            ask,
            tree,
            root,
            workspace: Arc::clone(&prepared.workspace),
            supervision: Supervision::new(self.settings(adapter), clock::uptime()),
            pump,
            stdin,
            terminal,
            journal,
            record,
            mailbox,
            undelivered: VecDeque::new(),
            more_wait: false,
            marks: None,
            children: signal(SignalKind::child()).map_err(|error| error.to_string())?,
            orders,
            freezer: Freezer::new(self.freeze_order.clone(), self.folder.clone()),
            waiting: self.hold.waiting.clone(),
            asking: self.asking(),
            background: JoinSet::new(),
        })
    }
}
