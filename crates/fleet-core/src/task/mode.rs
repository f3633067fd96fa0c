//! Whether the agent of a task works alone or in a terminal.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::transition::{UnknownName, named};

named! {
    /// How the agent of a task runs.
    #[derive(Default)]
    pub enum TaskMode: "mode" {
        /// It gets its prompt, works alone and ends.
        #[default]
        Headless = "headless",
        /// Its own interface runs in a terminal that people attach to, and waits for them between prompts.
        Interactive = "interactive",
    }
}

impl TaskMode {
    pub const fn is_interactive(self) -> bool {
        matches!(self, Self::Interactive)
    }

    /// How long a run may take, or may be idle: what the task says, otherwise what is configured for agents that work
    /// alone. One in a terminal waits for people, if need be for days.
    pub fn time_limit(self, own_seconds: Option<u64>, configured: Option<Duration>) -> Option<Duration> {
        let configured = configured.filter(|_| !self.is_interactive());
        own_seconds.map(Duration::from_secs).or(configured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_limits_are_for_agents_that_work_alone() {
        let (own, hour) = (Some(7), Some(Duration::from_hours(1)));
        for mode in TaskMode::ALL {
            assert_eq!(mode.time_limit(own, hour), Some(Duration::from_secs(7)), "{mode}");
            assert_eq!(mode.time_limit(None, None), None, "{mode}");
        }
        assert_eq!(TaskMode::Headless.time_limit(None, hour), hour);
        assert_eq!(TaskMode::Interactive.time_limit(None, hour), None);
    }
}
