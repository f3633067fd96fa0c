//! How an agent at work is doing, as far as it shows from outside.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AgentState, RunState};
use crate::transition::{UnknownName, named};

named! {
    /// How a running agent is doing.
    pub enum Health: "health" {
        Preparing = "preparing",
        /// It shows signs of work.
        Working = "working",
        /// It waits for a person at its terminal: for a prompt or an answer.
        Waiting = "waiting",
        /// It has printed nothing for a while, and computes or waits.
        Quiet = "quiet",
        /// It has printed nothing for long and uses no processor: perhaps it hangs.
        Silent = "silent",
        Stopping = "stopping",
        /// Its agent has ended; its work is being saved.
        Finishing = "finishing",
        /// Its keeper has stopped renewing the lease.
        Unattended = "unattended",
    }
}

/// What can be seen of a run from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSigns {
    pub state: RunState,
    pub is_stopping: bool,
    pub is_expired: bool,
    /// How long it has printed nothing; nothing, if it is on another machine.
    pub idle: Option<Duration>,
    pub cpu_percent: Option<u64>,
    /// What it does, if it runs in a terminal.
    pub agent_state: Option<AgentState>,
    /// How long it may give no sign of life before it is stopped.
    pub patience: Option<Duration>,
}

/// A model may think this long without output.
const QUIET_AFTER: Duration = Duration::from_mins(1);
/// Long, where nothing is configured.
const STALLED_AFTER: Duration = Duration::from_mins(10);
/// A process that only waits uses less.
const BUSY_PERCENT: u64 = 5;

impl RunSigns {
    #[must_use]
    pub fn health(&self) -> Health {
        match self.state {
            _ if self.is_expired => Health::Unattended,
            _ if self.is_stopping => Health::Stopping,
            RunState::Preparing => Health::Preparing,
            RunState::Running => self.at_work(),
            _ => Health::Finishing,
        }
    }

    fn at_work(&self) -> Health {
        match self.agent_state {
            Some(AgentState::Working) => return Health::Working,
            Some(_) => return Health::Waiting,
            None => {}
        }
        let idle = self.idle.unwrap_or_default();
        // At half of the time after which it is stopped a person can still do something about it.
        let long = self.patience.map_or(STALLED_AFTER, |patience| patience / 2);
        if idle >= long && self.cpu_percent.is_none_or(|percent| percent < BUSY_PERCENT) {
            Health::Silent
        } else if idle >= QUIET_AFTER.min(long) {
            Health::Quiet
        } else {
            Health::Working
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_judged_by_what_the_processor_does() {
        let signs = |idle: u64, cpu_percent: u64, patience: Option<u64>| RunSigns {
            state: RunState::Running,
            is_stopping: false,
            is_expired: false,
            idle: Some(Duration::from_secs(idle)),
            cpu_percent: Some(cpu_percent),
            agent_state: None,
            patience: patience.map(Duration::from_secs),
        };
        assert_eq!(signs(5, 0, None).health(), Health::Working);
        assert_eq!(signs(90, 0, None).health(), Health::Quiet);
        assert_eq!(signs(900, 80, None).health(), Health::Quiet, "it computes");
        assert_eq!(signs(900, 0, None).health(), Health::Silent);
        assert_eq!(signs(60, 0, Some(100)).health(), Health::Silent, "half of its patience");
        let elsewhere = RunSigns { idle: None, cpu_percent: None, ..signs(0, 0, None) };
        assert_eq!(elsewhere.health(), Health::Working);
        let says = |state| RunSigns { agent_state: Some(state), ..signs(900, 0, None) }.health();
        assert_eq!(says(AgentState::Working), Health::Working, "it says so itself");
        assert_eq!(
            (says(AgentState::Idle), says(AgentState::AsksQuestion)),
            (Health::Waiting, Health::Waiting)
        );
    }

    #[test]
    fn what_happens_to_a_run_comes_before_what_it_does() {
        let signs = RunSigns {
            state: RunState::Preparing,
            is_stopping: false,
            is_expired: false,
            idle: None,
            cpu_percent: None,
            agent_state: None,
            patience: None,
        };
        assert_eq!(signs.health(), Health::Preparing);
        assert_eq!(RunSigns { state: RunState::Finishing, ..signs }.health(), Health::Finishing);
        assert_eq!(RunSigns { is_stopping: true, ..signs }.health(), Health::Stopping);
        assert_eq!(RunSigns { is_stopping: true, is_expired: true, ..signs }.health(), Health::Unattended);
    }
}
