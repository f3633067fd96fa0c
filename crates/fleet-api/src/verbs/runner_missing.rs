use crate::prelude::*;

/// Checks whether tasks wait for a runner that is not up, and starts it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// What was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The tasks that wait; null if none do. An agent has nothing to do with them.
    pub unattended: Option<Unattended>,
}

/// Tasks that need only a runner, and none that would do them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unattended {
    /// How many could start here now.
    pub ready: usize,
    /// How many could when their time has come.
    pub scheduled: usize,
    /// Whether there are more.
    pub more: bool,
    /// Whether a runner was started for them just now.
    pub started: bool,
}

impl Unattended {
    /// For people, in one line.
    pub fn sentence(&self) -> String {
        let more = if self.more { "more than " } else { "" };
        let all = self.ready + self.scheduled;
        let tasks = if all == 1 { "1 task is".to_owned() } else { format!("{more}{all} tasks are") };
        let state = self.state();
        if self.started {
            return format!("{tasks} {state} and no runner was up: started one in the background");
        }
        format!("{tasks} {state} and no runner is up here: `fleet start` starts one")
    }

    /// What they are, in words.
    pub const fn state(&self) -> &'static str {
        match (self.ready, self.scheduled) {
            (_, 0) => "ready",
            (0, _) => "scheduled",
            _ => "ready or scheduled",
        }
    }
}

verb!("runner.missing", Request => Answer, Adds, All);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_that_nobody_works() {
        let said =
            |(ready, scheduled), more, started| Unattended { ready, scheduled, more, started }.sentence();
        assert_eq!(
            said((1, 0), false, false),
            "1 task is ready and no runner is up here: `fleet start` starts one"
        );
        assert_eq!(
            said((1000, 0), true, true),
            "more than 1000 tasks are ready and no runner was up: started one in the background"
        );
        assert!(said((0, 1), false, false).starts_with("1 task is scheduled and no runner is up"));
        assert!(said((1, 1), false, false).starts_with("2 tasks are ready or scheduled and no runner"));
    }
}
