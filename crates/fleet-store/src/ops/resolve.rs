//! From what a person typed to a task.

use std::fmt::Display;
use std::str::FromStr;

use async_trait::async_trait;
use fleet_core::id::{IdPrefix, TaskId};

use super::deps::id_list;
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// The one task whose id begins like this.
#[derive(Debug, Clone)]
pub struct ResolveTask {
    pub prefix: IdPrefix<TaskId>,
}

#[derive(Debug, Clone)]
pub struct AnyExisting {
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

/// At most this many candidates are named when a prefix is ambiguous.
const MOST_NAMED: i64 = 5;

#[async_trait]
impl Op for ResolveTask {
    type Out = TaskId;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<TaskId, StoreError> {
        let prefix = self.prefix.as_str();
        let tasks = "SELECT id FROM tasks WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3";
        resolve(tx, tasks, prefix).await?.ok_or_else(|| StoreError::TaskNotFound(prefix.to_owned()))
    }
}

/// The one id that begins with the prefix. The statement selects the ids from $1 to $2, at most $3.
pub(super) async fn resolve<K: Copy + ToString + FromStr<Err: Display>>(
    tx: &mut dyn Tx,
    matching: &'static str,
    prefix: &str,
) -> Result<Option<K>, StoreError> {
    // Every id that begins with the prefix lies between it and it followed by the greatest character.
    let matching = sql!(matching, prefix, format!("{prefix}{}", "z".repeat(15)), MOST_NAMED);
    let found = tx.query_alone(matching).await?.into_iter();
    let found = found.map(|mut row| row.parse()).collect::<Result<Vec<K>, _>>()?;
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => Err(StoreError::Ambiguous {
            prefix: prefix.to_owned(),
            matches: several.iter().map(ToString::to_string).collect(),
        }),
    }
}
