//! A workflow as the store knows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Part, PartState, WorkflowState};
use crate::id::{ProjectId, WorkflowId};
use crate::task::{BaseRef, Priority, Spawn};
use crate::time::Millis;

/// How many parts stand where; those that were replaced do not count.
pub type Tally = BTreeMap<PartState, u32>;

/// A workflow that runs or ran. What it says lies apart, in its [`super::Spec`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// Its id.
    pub id: WorkflowId,
    /// The repository it is about.
    pub project: ProjectId,
    /// What it is called.
    pub name: String,
    /// Where it stands.
    pub state: WorkflowState,
    /// The priority of its tasks.
    pub priority: Priority,
    /// The commit that it starts from.
    pub base: BaseRef,
    /// Why it failed or is cancelled, in a sentence.
    pub why: Option<String>,
    /// Where it comes from: its tasks come from there, too.
    pub spawn: Spawn,
    /// How its parts stand.
    pub tally: Tally,
    /// Grows with every change.
    pub version: i64,
    /// When it was added.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it was over.
    pub ended_at: Option<Millis>,
}

impl Workflow {
    /// Counts parts.
    pub fn tally<'a>(parts: impl Iterator<Item = &'a Part>) -> Tally {
        let mut tally = Tally::new();
        for part in parts.filter(|part| !part.replaced) {
            *tally.entry(part.state).or_default() += 1;
        }
        tally
    }
}
