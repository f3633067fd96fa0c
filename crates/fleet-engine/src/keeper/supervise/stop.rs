//! Stopping the agent and all that it started.

use std::sync::Arc;
use std::time::Duration;

use fleet_agents::Ask;
use fleet_core::supervision::{BackgroundWork, Input};
use fleet_host::process::{self, Identity, StopSequence};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::Supervisor;
use super::effects::FinishedWork;
use crate::closing;

/// Saving the work before an agent is stopped may take this long.
const SAVE_TIMEOUT: Duration = Duration::from_secs(5);
/// An agent that was asked to stop in its own words has this long to do it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

impl Supervisor<'_> {
    /// Begins to stop everything. The work is saved first: an agent that is ending may clean up.
    pub(super) fn stop(&mut self) {
        let (workspace, run) = (Arc::clone(&self.workspace), self.keeper.run.id);
        let folder = self.keeper.folder.clone();
        let (tree, sequence) = (self.tree.clone(), asking(self.keeper.stop_sequence(), self.ask));
        // One that is frozen is not woken for it.
        let is_frozen = self.freezer.is_frozen();
        let is_told = !is_frozen && self.ask == Some(Ask::Say) && self.journal.interrupt();
        if is_told {
            let words = self.journal.reply();
            self.stdin.write(words);
            self.stdin.close();
        }
        let stopped = tokio::spawn(async move {
            let save = move || closing::save_before_stop(&workspace, run, &folder);
            // A filter of the user's may take its time, but a stop does not wait for that. The work is saved once more
            // when all processes are gone.
            let _ = timeout(SAVE_TIMEOUT, spawn_blocking(save)).await;
            if is_told {
                let _ = timeout(sequence.term_grace.min(ANSWER_TIMEOUT), exited(&tree.root)).await;
            }
            let end = move || {
                if is_frozen {
                    tree.kill_now(sequence.kill_patience, &mut || {})
                } else {
                    tree.stop(&sequence, &mut || {})
                }
            };
            let _ = spawn_blocking(move || drop(end())).await;
        });
        self.beside(stopped, |()| FinishedWork::Input(Input::Ended(BackgroundWork::Stop)));
    }
}

/// Asks first: an agent that can end by itself gets as long for that as for SIGTERM.
fn asking(sequence: StopSequence, ask: Option<Ask>) -> StopSequence {
    let signal = ask.and_then(|ask| match ask {
        Ask::Interrupt => Some(process::Signal::INT),
        Ask::HangUp => Some(process::Signal::HUP),
        Ask::Say => None,
    });
    let ask_grace = if signal.is_some() { sequence.term_grace } else { Duration::ZERO };
    StopSequence { ask: signal, ask_grace, ..sequence }
}

async fn exited(process: &Identity) {
    while process.is_alive() {
        sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_agents_that_can_be_asked_are_asked() {
        let grace = Duration::from_secs(5);
        let plain =
            StopSequence { ask: None, ask_grace: Duration::ZERO, term_grace: grace, kill_patience: grace };
        assert_eq!(asking(plain, None), plain);
        let asked = asking(plain, Some(Ask::Interrupt));
        assert_eq!((asked.ask, asked.ask_grace), (Some(process::Signal::INT), grace));
        assert_eq!(asking(plain, Some(Ask::HangUp)).ask, Some(process::Signal::HUP));
    }
}
