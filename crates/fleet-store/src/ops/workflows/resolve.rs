//! From what a person typed to a workflow.

use async_trait::async_trait;
use fleet_core::id::{IdPrefix, WorkflowId};

use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// The one workflow whose id begins like this.
#[derive(Debug, Clone)]
pub struct ResolveWorkflow {
    /// What was typed.
    pub prefix: IdPrefix<WorkflowId>,
}

/// So many candidates are named at most when a prefix fits several.
const NAMED: i64 = 5;

#[async_trait]
impl Op for ResolveWorkflow {
    type Out = WorkflowId;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<WorkflowId, StoreError> {
        let prefix = self.prefix.as_str();
        // Every id that begins with the prefix lies between it and it followed by the greatest character.
        let matching = sql!(
            "SELECT id FROM workflows WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3",
            prefix,
            format!("{prefix}{}", "z".repeat(15)),
            NAMED,
        );
        let found = tx.query_alone(matching).await?.into_iter();
        let found = found.map(|mut row| row.parse()).collect::<Result<Vec<WorkflowId>, _>>()?;
        match found.as_slice() {
            [] => Err(StoreError::WorkflowNotFound(prefix.to_owned())),
            [one] => Ok(*one),
            several => Err(StoreError::Ambiguous {
                prefix: prefix.to_owned(),
                matches: several.iter().map(ToString::to_string).collect(),
            }),
        }
    }
}
