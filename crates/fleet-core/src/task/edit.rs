//! Changes to what the author of a task decided.

use super::{
    AgentName, BaseRef, BranchName, Complexity, Description, Labels, Meta, ModelName, Priority, TaskSpec,
    TaskState, Title,
};
use crate::id::BatchId;
use crate::limits::Limits;
use crate::policy::RetryPolicy;
use crate::scope::FileScope;
use crate::time::Millis;

/// New values for some fields; `None` leaves a field as it is, `Some(None)` empties it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of TaskSpec")]
pub struct TaskEdit {
    pub title: Option<Title>,
    pub description: Option<Description>,
    pub priority: Option<Priority>,
    pub labels: Option<Labels>,
    pub scope: Option<FileScope>,
    pub complexity: Option<Option<Complexity>>,
    pub agent: Option<Option<AgentName>>,
    pub model: Option<Option<ModelName>>,
    pub base: Option<Option<BaseRef>>,
    pub branch: Option<Option<BranchName>>,
    pub limits: Option<Limits>,
    pub retry: Option<RetryPolicy>,
    pub not_before: Option<Option<Millis>>,
    pub meta: Option<Meta>,
    pub batch: Option<Option<BatchId>>,
    pub read_only: Option<bool>,
}

/// Why a field may not be changed now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
    /// The work is over.
    #[error("the task is {0}: what was asked for can no longer change")]
    Settled(TaskState),
    /// An agent already works on it.
    #[error("the task is running: {0} cannot change under the agent's hands")]
    Running(&'static str),
}

/// Sets each field that has a new value, and collects the names of those that really changed.
macro_rules! apply_fields {
    ($edit:ident, $spec:ident, $($field:ident),+) => {{
        let mut changed = Vec::new();
        $(if let Some(value) = $edit.$field {
            if $spec.$field != value {
                $spec.$field = value;
                changed.push(stringify!($field));
            }
        })+
        changed
    }};
}

impl TaskEdit {
    /// Changes `spec` and returns the names of the fields that are different now.
    pub fn apply(self, spec: &mut TaskSpec, state: TaskState) -> Result<Vec<&'static str>, EditRefused> {
        if matches!(state, TaskState::Done | TaskState::Cancelled) {
            return Err(EditRefused::Settled(state));
        }
        let before = spec.clone();
        let changed = apply_fields!(
            self,
            spec,
            title,
            description,
            priority,
            labels,
            scope,
            complexity,
            agent,
            model,
            base,
            branch,
            limits,
            retry,
            not_before,
            meta,
            batch,
            read_only
        );
        let frozen =
            changed.iter().find(|field| !matches!(**field, "priority" | "labels" | "retry" | "meta"));
        match frozen {
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
