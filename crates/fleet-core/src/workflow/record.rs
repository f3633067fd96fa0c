//! A workflow as the store knows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Part, PartState, WorkflowState};
use crate::id::{ProjectId, WorkflowId};
use crate::task::{BaseRef, Priority, Spawn};
use crate::time::Millis;
use crate::transition::Current;

/// How many parts are in each state; replaced ones do not count.
pub type PartCounts = BTreeMap<PartState, u32>;

/// A workflow that runs or ran. Its content is separate, in its [`super::Spec`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    pub id: WorkflowId,
    pub project: ProjectId,
    pub name: String,
    pub state: Current<WorkflowState>,
    pub priority: Priority,
    pub base: BaseRef,
    pub why: Option<String>,
    /// Where it comes from: its tasks come from there, too.
    pub spawn: Spawn,
    pub tally: PartCounts,
    /// Grows with every change.
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub ended_at: Option<Millis>,
}

impl Workflow {
    pub const fn state(&self) -> WorkflowState {
        self.state.get()
    }

    pub fn tally<'a>(parts: impl Iterator<Item = &'a Part>) -> PartCounts {
        let mut tally = PartCounts::new();
        for part in parts.filter(|part| !part.replaced) {
            *tally.entry(part.state.get()).or_default() += 1;
        }
        tally
    }
}
