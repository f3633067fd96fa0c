//! From what a person typed to a task.

use async_trait::async_trait;
use fleet_core::id::{IdPrefix, TaskId};

use super::deps::id_list;
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// The one task whose id begins like this.
#[derive(Debug, Clone)]
pub struct ResolveTask {
    /// What was typed.
    pub prefix: IdPrefix<TaskId>,
}

/// One of these tasks that exists, if any does.
#[derive(Debug, Clone)]
pub struct AnyExisting {
    /// The tasks.
    pub ids: Vec<TaskId>,
}

#[async_trait]
impl Op for AnyExisting {
    type Out = Option<TaskId>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<TaskId>, StoreError> {
        let ids = id_list(self.ids.iter().copied());
        let found = tx.query_alone(sql!("SELECT id FROM tasks WHERE id IN {list 1} LIMIT 1", ids)).await?;
        found.into_iter().next().map(|mut row| row.parse()).transpose()
    }
}

/// So many candidates are named at most when a prefix fits several; two would be enough to know that it does.
const NAMED: i64 = 5;

#[async_trait]
impl Op for ResolveTask {
    type Out = TaskId;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<TaskId, StoreError> {
        let prefix = self.prefix.as_str();
        // Every id that begins with the prefix lies between it and it followed by the greatest character.
        let matching = sql!(
            "SELECT id FROM tasks WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3",
            prefix,
            format!("{prefix}{}", "z".repeat(15)),
            NAMED,
        );
        let mut found = Vec::new();
        for mut row in tx.query_alone(matching).await? {
            found.push(row.parse::<TaskId>()?);
        }
        match found.as_slice() {
            [] => Err(StoreError::TaskNotFound(prefix.to_owned())),
            [one] => Ok(*one),
            several => Err(StoreError::Ambiguous {
                prefix: prefix.to_owned(),
                matches: several.iter().map(ToString::to_string).collect(),
            }),
        }
    }
}
