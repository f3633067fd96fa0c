//! Changes to what the author of a task decided.

use super::{TaskEdit, TaskSpec, TaskState};

/// Why a field may not be changed now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
    #[error("the task is {0} and can no longer be edited")]
    Settled(TaskState),
    /// An agent already works on it.
    #[error("{0} cannot be changed while the task runs; cancel it first")]
    Running(&'static str),
}

/// The edit of a task, from its fields.
macro_rules! define_edit {
    ($($field:ident: $type:ty,)+) => {
        /// New values for some fields of a task; `None` leaves a field as it is, `Some(None)` empties it.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct TaskEdit {
            $(pub $field: Option<$type>,)+
        }

        impl TaskEdit {
            /// Sets each field that has a new value, and collects the names of those that really changed.
            pub fn set(self, spec: &mut TaskSpec) -> Vec<&'static str> {
                let mut changed = Vec::new();
                $(if let Some(value) = self.$field {
                    if spec.$field != value {
                        spec.$field = value;
                        changed.push(stringify!($field));
                    }
                })+
                changed
            }
        }
    };
}

pub(super) use define_edit;

/// What may change while an agent works: nothing that its prompt said.
const CHANGES_WHILE_RUNNING: [&str; 7] = ["priority", "labels", "retry", "checks", "meta", "tuning", "setup"];

impl TaskEdit {
    /// Changes `spec` and returns the names of the fields that are different now.
    pub fn apply(self, spec: &mut TaskSpec, state: TaskState) -> Result<Vec<&'static str>, EditRefused> {
        if matches!(state, TaskState::Done | TaskState::Cancelled) {
            return Err(EditRefused::Settled(state));
        }
        let before = spec.clone();
        let changed = self.set(spec);
        match changed.iter().find(|field| !CHANGES_WHILE_RUNNING.contains(field)) {
            Some(field) if state == TaskState::Running => {
                *spec = before;
                Err(EditRefused::Running(field))
            }
            _ => Ok(changed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AgentName, Priority};
    use super::*;

    fn spec() -> TaskSpec {
        TaskSpec::new("one".parse().unwrap())
    }

    #[test]
    fn only_real_changes_are_reported() {
        let mut spec = spec();
        let edit = TaskEdit {
            title: Some("one".parse().unwrap()),
            agent: Some(Some("codex".parse().unwrap())),
            ..TaskEdit::default()
        };
        assert_eq!(edit.apply(&mut spec, TaskState::Queued), Ok(vec!["agent"]));
        assert_eq!(spec.agent.as_ref().map(AgentName::as_str), Some("codex"));
        let cleared = TaskEdit { agent: Some(None), ..TaskEdit::default() };
        assert_eq!(cleared.apply(&mut spec, TaskState::Failed), Ok(vec!["agent"]));
        assert_eq!(spec.agent, None);
    }

    #[test]
    fn a_running_task_keeps_what_its_agent_was_told() {
        let mut running = spec();
        let edit = TaskEdit {
            priority: Some(Priority::try_from(5).unwrap()),
            title: Some("two".parse().unwrap()),
            ..TaskEdit::default()
        };
        assert_eq!(edit.clone().apply(&mut running, TaskState::Running), Err(EditRefused::Running("title")));
        assert_eq!(running, spec(), "a refused edit leaves everything as it was");
        let priority = TaskEdit { title: None, ..edit };
        assert_eq!(priority.apply(&mut running, TaskState::Running), Ok(vec!["priority"]));
        assert_eq!(
            TaskEdit::default().apply(&mut running, TaskState::Done),
            Err(EditRefused::Settled(TaskState::Done))
        );
    }
}
