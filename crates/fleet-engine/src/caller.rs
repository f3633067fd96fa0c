//! Who asks.
//!
//! A keeper answers the agent of its run, and knows it by the door through which it comes. Every other process works for a
//! person, unless it is inside a run: see [`crate::inside`].

use fleet_api::Asker;
use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::Outcome;
use fleet_core::project::Project;
use fleet_store::ops::Author;

use crate::Engine;

#[derive(Debug, Clone)]
pub enum Caller {
    /// A person, or a program that works for one.
    Person,
    /// The agent of a run, or something that it started.
    Agent(CallingAgent),
    /// May only read.
    Viewer,
    Runner,
}

#[derive(Debug, Clone)]
pub struct CallingAgent {
    pub run: RunId,
    pub task: TaskId,
    pub project: Project,
}

impl Caller {
    pub const fn asker(&self) -> Asker {
        match self {
            Self::Person => Asker::Person,
            Self::Agent(_) => Asker::Agent,
            Self::Viewer => Asker::Viewer,
            Self::Runner => Asker::Runner,
        }
    }

    pub const fn agent(&self) -> Option<&CallingAgent> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Person | Self::Viewer | Self::Runner => None,
        }
    }

    pub fn run(&self) -> Option<RunId> {
        self.agent().map(|agent| agent.run)
    }
}

/// Who adds tasks here, as the store has to know it.
pub fn author(engine: &Engine) -> Outcome<Author> {
    let spawn_depth = engine.config()?.general().spawn_depth;
    Ok(match engine.caller()?.run() {
        None => Author::Person { spawn_depth },
        Some(run) => Author::Agent { run, spawn_depth },
    })
}

/// Who is at work, for people: an agent by its run, a person by the name of the user.
pub(crate) fn who(engine: &Engine) -> Outcome<String> {
    Ok(engine.caller()?.run().map_or_else(|| engine.environment().user(), |run| run.to_string()))
}

/// Whether an agent asks, or a process that is inside a run.
pub(crate) fn is_inside_a_run(engine: &Engine) -> Outcome<bool> {
    Ok(engine.position().is_inside() || engine.caller()?.run().is_some())
}
