//! From what a person typed to a workflow.

use fleet_core::id::{IdPrefix, WorkflowId};

use crate::ops::prelude::*;
use crate::ops::resolve::resolve;

/// The one workflow whose id begins like this.
#[derive(Debug, Clone)]
pub struct ResolveWorkflow {
    pub prefix: IdPrefix<WorkflowId>,
}

#[async_trait]
impl Op for ResolveWorkflow {
    type Out = WorkflowId;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<WorkflowId, StoreError> {
        let prefix = self.prefix.as_str();
        let workflows = "SELECT id FROM workflows WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3";
        resolve(tx, workflows, prefix).await?.ok_or_else(|| StoreError::WorkflowNotFound(prefix.to_owned()))
    }
}
