//! Making the agent and all that it started end.

use std::sync::Arc;
use std::time::Duration;

use fleet_agents::Ask;
use fleet_core::outcome::Stop;
use fleet_core::run::StopKind;
use fleet_core::watchdog::Overrun;
use fleet_host::process::{self, Identity, Ladder};
use tokio::time::{sleep, timeout};

use super::{Attendance, blocking, finished};
use crate::closing;
use crate::keeper::lease::Order;

/// The work is put in safety before an agent is told to stop, for so long at most.
const BEFORE_STOP: Duration = Duration::from_secs(5);
/// An agent that was asked to stop in its own words has so long to do it.
const ANSWER: Duration = Duration::from_secs(2);

impl Attendance<'_> {
    /// Does what somebody ordered.
    pub(super) fn obey(&mut self, order: Order) {
        if self.over_since.is_some() && order.is_release() {
            // Its work is done, and would only be done again.
            return self.hurry();
        }
        self.stop(match order {
            Order::Lost => Stop::Shutdown("the run was given to somebody else".to_owned()),
            Order::Stop(stop) if stop.kind == StopKind::Cancel => Stop::Killed(stop.why),
            Order::Stop(stop) => Stop::Shutdown(stop.why),
        });
    }

    /// Stops an agent that has passed a bound.
    pub(super) fn stop_at(&mut self, overrun: Overrun) {
        let text = overrun.to_string();
        self.stop(match overrun {
            Overrun::Time(_) => Stop::TimeLimit(text),
            Overrun::Idle(_) => Stop::Idle(text),
            Overrun::Tokens(_) => Stop::Tokens(text),
            Overrun::Money(_) => {
                let guess = self.journal.guess().map(|guess| format!("; {guess}"));
                Stop::Money(format!("{text}{}", guess.unwrap_or_default()))
            }
        });
    }

    /// Starts to stop everything. The work is put in safety first: an agent that is told to end may tidy up.
    pub(super) fn stop(&mut self, why: Stop) {
        self.stopped = Some(why);
        let (workspace, run) = (Arc::clone(&self.workspace), self.keeper.run.id);
        let folder = self.keeper.folder.clone();
        let (tree, ladder) = (self.tree.clone(), asking(self.keeper.ladder(), self.ask));
        let is_told = self.ask == Some(Ask::Say) && self.journal.interrupt();
        if is_told {
            let words = self.journal.reply();
            self.voice.say(words);
            self.voice.close();
        }
        self.stopping = Some(tokio::spawn(async move {
            let save = move || closing::save_before_stop(&workspace, run, &folder);
            // A filter of the user's may take its time; whoever wants it stopped does not wait for that. The work is
            // put in safety once more when everybody is gone.
            let _ = timeout(BEFORE_STOP, tokio::task::spawn_blocking(save)).await;
            if is_told {
                let _ = timeout(ladder.term_grace.min(ANSWER), gone(&tree.root)).await;
            }
            let _ = tokio::task::spawn_blocking(move || drop(tree.stop(&ladder, &mut || {}))).await;
        }));
    }

    /// Ends what the agent left behind: an agent that is done has no business going on in the background.
    pub(super) async fn end_the_rest(&mut self) {
        if let Some(stopping) = self.stopping.take() {
            while !stopping.is_finished() {
                // An agent that floods while it is told to end must not fill memory either.
                let is_full = self.journal.is_full();
                if is_full && self.writing.is_none() {
                    self.write();
                }
                tokio::select! {
                    piece = self.pump.pieces.recv(), if self.open_pipes > 0 && !is_full => self.take(piece),
                    () = finished(&mut self.writing) => {}
                    () = sleep(Duration::from_millis(5)) => {}
                }
            }
        }
        let (tree, ladder) = (self.tree.clone(), self.keeper.ladder());
        let _ = blocking(move || tree.stop(&ladder, &mut || drop(process::reap()))).await;
    }
}

/// The ladder with its first rung: an agent that knows how to end in order gets as long for it as for the next one.
fn asking(ladder: Ladder, ask: Option<Ask>) -> Ladder {
    let signal = ask.and_then(|ask| match ask {
        Ask::Interrupt => Some(process::Signal::INT),
        Ask::HangUp => Some(process::Signal::HUP),
        Ask::Say => None,
    });
    let ask_grace = if signal.is_some() { ladder.term_grace } else { Duration::ZERO };
    Ladder { ask: signal, ask_grace, ..ladder }
}

/// Waits until a process has ended.
async fn gone(process: &Identity) {
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
        let plain = Ladder { ask: None, ask_grace: Duration::ZERO, term_grace: grace, kill_patience: grace };
        assert_eq!(asking(plain, None), plain);
        let asked = asking(plain, Some(Ask::Interrupt));
        assert_eq!((asked.ask, asked.ask_grace), (Some(process::Signal::INT), grace));
        assert_eq!(asking(plain, Some(Ask::HangUp)).ask, Some(process::Signal::HUP));
    }
}
