//! The work that a supervision begins, done in the background.

use std::sync::Arc;
use std::time::Duration;

use fleet_core::message::Message;
use fleet_core::supervision::{Input, Work};
use fleet_core::watchdog::Activity;
use fleet_host::git::Marks;
use fleet_host::newest_change;
use fleet_host::process::{self, Processes};
use fleet_store::ops;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::Supervisor;
use super::record::NewLines;
use crate::keeper::journal;
use crate::{agents, clock, closing};

/// At most this many files of the workspace tell whether a silent agent works.
const MAX_FILES: usize = 20_000;
/// The agent goes on while more is asked for, so the answer must not take long.
const RESERVE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) enum Ended {
    /// Nothing but this.
    Input(Input),
    /// How the agent's repository looked when its commits were published; none if they were not.
    Published(Option<Marks>),
    Messages(Vec<Message>),
    Record(NewLines),
}

impl Supervisor<'_> {
    /// Begins some work. Its end comes to [`Self::ended`].
    pub(super) fn start(&mut self, work: Work) {
        match work {
            Work::Store => self.store(),
            Work::Snapshot => self.snapshot(),
            Work::Probe => self.probe(),
            Work::Publish => self.publish(),
            Work::Reserve => self.reserve(),
            Work::Deliver => {
                let messages = tokio::spawn(self.mailbox.take());
                self.beside(messages, Ended::Messages);
            }
            Work::ReadRecord => {
                let record = self.journal.session().and_then(|session| self.adapter.record(session));
                let lines = self.record.read(record);
                self.beside(lines, Ended::Record);
            }
            Work::Stop => self.stop(),
            Work::EndFinished => {
                let (tree, ladder) = (self.tree.clone(), self.keeper.ladder());
                let ended = spawn_blocking(move || drop(tree.stop(&ladder, &mut || {})));
                self.beside(ended, |()| Ended::Input(Input::Ended(Work::EndFinished)));
            }
            Work::EndRemaining => {
                let (tree, ladder) = (self.tree.clone(), self.keeper.ladder());
                let ended = spawn_blocking(move || drop(tree.stop(&ladder, &mut || drop(process::reap()))));
                self.beside(ended, |()| Ended::Input(Input::Ended(Work::EndRemaining)));
            }
        }
    }

    /// What the end of some work means for the supervision.
    pub(super) fn ended(&mut self, ended: Ended) -> Input {
        match ended {
            Ended::Input(input) => input,
            Ended::Published(marks) => {
                self.marks = marks;
                Input::Published { is_done: self.marks.is_some() }
            }
            Ended::Messages(messages) => {
                if self.supervision.is_running() {
                    self.deliver(messages);
                }
                Input::Ended(Work::Deliver)
            }
            Ended::Record(lines) => {
                for line in self.record.take(lines) {
                    self.journal.record(&line, clock::now());
                }
                Input::RecordRead(self.status())
            }
        }
    }

    /// Waits for some work in the background. Work that panicked has the default result.
    pub(super) fn beside<T>(&mut self, work: JoinHandle<T>, ended: impl FnOnce(T) -> Ended + Send + 'static)
    where
        T: Default + Send + 'static,
    {
        self.background.spawn(async move { ended(work.await.unwrap_or_default()) });
    }

    fn store(&mut self) {
        let batch = self.journal.batch(clock::now());
        let store = self.keeper.store.clone();
        // A refusal is a lost run, which the lease and the end find out as well.
        let stored = tokio::spawn(async move { drop(journal::store(store, batch).await) });
        self.beside(stored, |()| Ended::Input(Input::Ended(Work::Store)));
    }

    fn snapshot(&mut self) {
        let (workspace, run) = (Arc::clone(&self.workspace), self.keeper.run.id);
        // The next one may work; what is on disk stays where it is.
        let saved =
            spawn_blocking(move || drop(closing::save(&workspace, run, "while it worked", clock::now())));
        self.beside(saved, |()| Ended::Input(Input::Ended(Work::Snapshot)));
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
        self.beside(activity, |activity| Ended::Input(Input::Probed(activity)));
    }

    fn publish(&mut self) {
        let marks = self.workspace.marks();
        if self.marks.as_ref() == Some(&marks) {
            self.background.spawn(async { Ended::Published(Some(marks)) });
            return;
        }
        let workspace = Arc::clone(&self.workspace);
        let published = spawn_blocking(move || workspace.publish_commits().is_ok().then_some(marks));
        self.beside(published, Ended::Published);
    }

    fn reserve(&mut self) {
        let (store, run, attempt) = (self.keeper.store.clone(), self.keeper.run.id, self.keeper.run.attempt);
        let budget = agents::budget(&self.keeper.config);
        let reserved = tokio::spawn(async move {
            let more = ops::ReserveMore { run, attempt, budget: budget?, now: clock::now() };
            timeout(RESERVE_TIMEOUT, store.call(more)).await.ok()?.ok()
        });
        self.beside(reserved, |bounds| Ended::Input(Input::Reserved(bounds)));
    }
}
