//! The work that a supervision begins, done in the background.

use std::sync::Arc;
use std::time::Duration;

use fleet_core::supervision::{BackgroundWork, Input};
use fleet_core::watchdog::Activity;
use fleet_host::git::CommitMarks;
use fleet_host::newest_change;
use fleet_host::process::{self, Processes};
use fleet_store::ops;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::record::NewLines;
use super::{ReadyMessage, Supervisor};
use crate::keeper::journal;
use crate::{agents, clock, closing};

/// At most this many files of the workspace tell whether a silent agent works.
const MAX_FILES: usize = 20_000;
/// The agent goes on while more is asked for, so the answer must not take long.
const RESERVE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) enum FinishedWork {
    /// Nothing but this.
    Input(Input),
    /// How the agent's repository looked when its commits were published; none if they were not.
    Published(Option<CommitMarks>),
    Messages(Vec<ReadyMessage>),
    Record(NewLines),
}

impl Supervisor<'_> {
    /// Begins some work. Its end comes to [`Self::ended`].
    pub(super) fn start(&mut self, work: BackgroundWork) {
        match work {
            BackgroundWork::Store => self.store(),
            BackgroundWork::Snapshot => self.snapshot(),
            BackgroundWork::Probe => self.probe(),
            BackgroundWork::Publish => self.publish(),
            BackgroundWork::Reserve => self.reserve(),
            BackgroundWork::Deliver => {
                let messages = tokio::spawn(self.mailbox.take());
                self.beside(messages, FinishedWork::Messages);
            }
            BackgroundWork::ReadRecord => {
                let record =
                    self.journal.session().and_then(|session| self.keeper.record_of(self.adapter, session));
                let lines = self.record.read(record);
                self.beside(lines, FinishedWork::Record);
            }
            BackgroundWork::Stop => self.stop(),
            BackgroundWork::EndFinished => {
                let (tree, sequence) = (self.tree.clone(), self.keeper.stop_sequence());
                let ended = spawn_blocking(move || drop(tree.stop(&sequence, &mut || {})));
                self.beside(ended, |()| FinishedWork::Input(Input::Ended(BackgroundWork::EndFinished)));
            }
            BackgroundWork::EndRemaining => {
                let (tree, sequence) = (self.tree.clone(), self.keeper.stop_sequence());
                let ended = spawn_blocking(move || drop(tree.stop(&sequence, &mut || drop(process::reap()))));
                self.beside(ended, |()| FinishedWork::Input(Input::Ended(BackgroundWork::EndRemaining)));
            }
        }
    }

    /// What the end of some work means for the supervision.
    pub(super) fn ended(&mut self, ended: FinishedWork) -> Input {
        match ended {
            FinishedWork::Input(input) => input,
            FinishedWork::Published(marks) => {
                self.marks = marks;
                Input::Published { is_done: self.marks.is_some() }
            }
            FinishedWork::Messages(messages) => {
                // A batch that is not empty may not be the last.
                self.more_wait = !messages.is_empty();
                self.undelivered.extend(messages);
                Input::Ended(BackgroundWork::Deliver)
            }
            FinishedWork::Record(lines) => {
                for line in self.record.take(lines) {
                    self.journal.record(&line, clock::now());
                }
                Input::RecordRead(self.status())
            }
        }
    }

    /// Waits for some work in the background. Work that panicked has the default result.
    pub(super) fn beside<T>(
        &mut self,
        work: JoinHandle<T>,
        ended: impl FnOnce(T) -> FinishedWork + Send + 'static,
    ) where
        T: Default + Send + 'static,
    {
        self.background.spawn(async move { ended(work.await.unwrap_or_default()) });
    }

    fn store(&mut self) {
        let batch = self.journal.batch(clock::now());
        let store = self.keeper.store.clone();
        // A refusal is a lost run, which the lease and the end find out as well.
        let stored = tokio::spawn(async move { drop(journal::store(store, batch).await) });
        self.beside(stored, |()| FinishedWork::Input(Input::Ended(BackgroundWork::Store)));
    }

    fn snapshot(&mut self) {
        let (workspace, run) = (Arc::clone(&self.workspace), self.keeper.run.id);
        // The next one may work; what is on disk stays where it is.
        let saved =
            spawn_blocking(move || drop(closing::save(&workspace, run, "while it worked", clock::now())));
        self.beside(saved, |()| FinishedWork::Input(Input::Ended(BackgroundWork::Snapshot)));
    }

    fn probe(&mut self) {
        let (tree, workspace) = (self.tree.clone(), self.workspace.path().to_owned());
        let activity = spawn_blocking(move || {
            let processes = Processes::scan();
            let (usage, io) = (tree.usage_in(&processes), tree.io_in(&processes));
            Activity {
                cpu: usage.cpu,
                processes: usage.processes,
                io_bytes: io.bytes,
                io_calls: io.calls,
                changed_at: newest_change(&workspace, MAX_FILES).and_then(clock::millis_of),
            }
        });
        self.beside(activity, |activity| FinishedWork::Input(Input::Probed(activity)));
    }

    fn publish(&mut self) {
        let marks = self.workspace.marks();
        if self.marks.as_ref() == Some(&marks) {
            self.background.spawn(async { FinishedWork::Published(Some(marks)) });
            return;
        }
        let workspace = Arc::clone(&self.workspace);
        let published = spawn_blocking(move || workspace.publish_commits().is_ok().then_some(marks));
        self.beside(published, FinishedWork::Published);
    }

    fn reserve(&mut self) {
        let (store, run, attempt) = (self.keeper.store.clone(), self.keeper.run.id, self.keeper.run.attempt);
        let budget = agents::budget(&self.keeper.config);
        let reserved = tokio::spawn(async move {
            let more = ops::ReserveMore { run, attempt, budget: budget?, now: clock::now() };
            timeout(RESERVE_TIMEOUT, store.call(more)).await.ok()?.ok()
        });
        self.beside(reserved, |bounds| FinishedWork::Input(Input::Reserved(bounds)));
    }
}
