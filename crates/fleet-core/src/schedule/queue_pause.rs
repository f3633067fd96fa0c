//! What a person paused: nothing of it is started until the pause is lifted.

use std::fmt;
use std::str::FromStr;

use crate::id::ProjectId;
use crate::task::AgentName;

/// Which tasks a pause of the queue is about; all of them, if it names nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PauseScope {
    pub project: Option<ProjectId>,
    pub agent: Option<AgentName>,
}

impl PauseScope {
    pub fn covers(&self, project: ProjectId, agent: &str) -> bool {
        self.project.is_none_or(|own| own == project)
            && self.agent.as_ref().is_none_or(|own| own.as_str() == agent)
    }
}

/// What the stored names of pauses of the queue begin with. Accounts have no `/` in their names.
pub const QUEUE_PREFIX: &str = "queue/";
const ANY: &str = "*";

/// As it is stored, among the pauses of accounts: `queue/PROJECT/AGENT`.
impl fmt::Display for PauseScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let project = self.project.map_or_else(|| ANY.to_owned(), |project| project.to_string());
        write!(f, "{QUEUE_PREFIX}{project}/{}", self.agent.as_ref().map_or(ANY, AgentName::as_str))
    }
}

impl FromStr for PauseScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || format!("not a pause of the queue: {text:?}");
        let names = text.strip_prefix(QUEUE_PREFIX).and_then(|names| names.split_once('/'));
        let (project, agent) = names.ok_or_else(malformed)?;
        Ok(Self {
            project: named(project).map(str::parse).transpose().map_err(|_| malformed())?,
            agent: named(agent).map(str::parse).transpose().map_err(|_| malformed())?,
        })
    }
}

fn named(text: &str) -> Option<&str> {
    (text != ANY).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::IdMaker;
    use crate::time::Millis;

    #[test]
    fn a_scope_covers_what_it_names_and_is_stored_as_text() {
        let mut maker = IdMaker::default();
        let (one, two): (ProjectId, ProjectId) = (maker.next(Millis(0), 1), maker.next(Millis(0), 2));
        let scope = |project, agent: Option<&str>| PauseScope {
            project,
            agent: agent.map(|agent| agent.parse().unwrap()),
        };
        for (scope, covered) in [
            (scope(None, None), [true, true, true]),
            (scope(Some(one), None), [true, true, false]),
            (scope(None, Some("codex")), [true, false, true]),
            (scope(Some(one), Some("codex")), [true, false, false]),
        ] {
            let tasks = [(one, "codex"), (one, "claude"), (two, "codex")];
            assert_eq!(tasks.map(|(project, agent)| scope.covers(project, agent)), covered, "{scope}");
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
        assert!("anthropic:work".parse::<PauseScope>().is_err());
    }
}
