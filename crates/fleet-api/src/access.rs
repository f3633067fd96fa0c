//! Who may call which verb.

use serde::Serialize;

use crate::Nature;

/// Who may call a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// People alone.
    People,
    /// People; an agent for its own task, and for what comes from it.
    Own,
    /// People; an agent for what its own repository has.
    Project,
    /// Every caller.
    All,
    /// Agents alone: it is about the run in which they are.
    Agents,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    /// A person, or a program that works for one.
    Person,
    /// The agent of a run.
    Agent,
    /// A caller that may only read.
    Viewer,
    /// A runner on another host.
    Runner,
}

impl Asker {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Person, Self::Agent, Self::Viewer, Self::Runner];
}

impl Access {
    /// Whether a caller may call such a verb at all. What an agent names is checked beyond that.
    pub const fn admits(self, asker: Asker, nature: Nature) -> bool {
        match (self, asker) {
            (Self::Agents, _) => matches!(asker, Asker::Agent),
            (_, Asker::Person) | (Self::Own | Self::Project | Self::All, Asker::Agent) => true,
            (Self::People, _) => false,
            (_, Asker::Viewer | Asker::Runner) => matches!(nature, Nature::Reads),
        }
    }
}
