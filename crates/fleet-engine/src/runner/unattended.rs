//! Work that nobody does.
//!
//! Owns what everybody who notices does about it. There is no process that must stay alive, so whoever comes by (a
//! command that looks, a keeper at its end, the MCP server) starts the runner that is missing. Must never start one
//! where nobody ever did, or where somebody stopped it.

use fleet_core::problem::Outcome;
use fleet_core::task::{Status, Task};

use super::{Startable, autostart, registry, upcoming};
use crate::caller::is_inside_a_run;
use crate::home::Home;
use crate::verbs::doctor;
use crate::{Engine, problems};

/// Tasks that need only a runner, and none that would do them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub(crate) fn state(&self) -> &'static str {
        match (self.ready, self.scheduled) {
            (_, 0) => "ready",
            (0, _) => "scheduled",
            _ => "ready or scheduled",
        }
    }

    /// Of the tasks that could start here.
    fn of<'t>(tasks: impl Iterator<Item = &'t Task>, more: bool, engine: &Engine) -> Option<Self> {
        let now = engine.now();
        let (ready, scheduled): (Vec<_>, Vec<_>) = tasks.partition(|task| task.status(now) == Status::Ready);
        let (ready, scheduled) = (ready.len(), scheduled.len());
        (ready + scheduled > 0).then_some(Self { ready, scheduled, more, started: false })
    }
}

/// Looks whether tasks wait for a runner that is not there, and starts one if one is missed. Neither for agents: whoever
/// runs them sees to that.
pub async fn unattended(engine: &Engine) -> Outcome<Option<Unattended>> {
    let home = Home::new(engine.home());
    if !doctor::is_there(engine) || is_inside_a_run(engine)? {
        return Ok(None);
    }
    let Some(found) = left_alone(engine).await? else { return Ok(None) };
    let started = home.runner_wanted().exists() && autostart(engine)?;
    Ok(Some(Unattended { started, ..found }))
}

/// The same for those who only look.
pub(crate) async fn left_alone(engine: &Engine) -> Outcome<Option<Unattended>> {
    let home = Home::new(engine.home());
    let up = registry::up(&home).map_err(|error| problems::io(&home.runners(), &error))?;
    if !up.is_empty() {
        return Ok(None);
    }
    let found = upcoming(engine).await?;
    let startable = Startable::look(engine, &found.tasks).await?;
    Ok(Unattended::of(found.tasks.iter().filter(|task| startable.has(task)), found.more, engine))
}

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
