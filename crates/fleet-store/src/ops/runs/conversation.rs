//! Conversations that a later run can go on with.

use fleet_core::id::{RunId, TaskId};
use fleet_core::run::{Meter, Reason, RunState};
use fleet_core::task::AgentName;

use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// What an earlier run of a task said to its agent, and how that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The run that had it last.
    pub run: RunId,
    /// The agent's own name for it.
    pub session: String,
    /// What the agent's own counters stood at when that run ended.
    pub meter: Option<Meter>,
    /// Why that run failed, if it did.
    pub reason: Option<Reason>,
    /// How that run ended.
    pub state: RunState,
    /// The model that it was with; none is the agent's own default.
    pub model: Option<String>,
}

/// The newest conversation of a task with an agent, of a run that has ended. Runs that never came so far as to have one
/// are passed over.
#[derive(Debug, Clone)]
pub struct LastConversation {
    /// The task.
    pub task: TaskId,
    /// The agent: the conversations of another mean nothing to it.
    pub agent: AgentName,
}

impl Op for LastConversation {
    type Out = Option<Conversation>;
    const MODE: Mode = Mode::Read;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<Conversation>, StoreError> {
        let newest = sql!(
            "SELECT id, session, meter, reason, state, model FROM runs \
             WHERE task = $1 AND agent = $2 AND session <> '' AND ended_at IS NOT NULL \
             ORDER BY fence DESC LIMIT 1",
            self.task,
            self.agent.as_str(),
        );
        let Some(mut row) = tx.query_alone(newest).await?.into_iter().next() else { return Ok(None) };
        Ok(Some(Conversation {
            run: row.parse()?,
            session: row.text()?,
            meter: row.optional_json()?,
            reason: row.optional_parse()?,
            state: row.parse()?,
            model: row.optional_text()?,
        }))
    }
}
