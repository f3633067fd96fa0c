//! From what a person typed to a task, a run or a batch.

use std::fmt::Display;
use std::str::FromStr;

use fleet_core::id::{BatchId, IdPrefix, IdSuffix, ProjectId};

use super::deps::id_list;
use crate::ops::prelude::*;

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
const MAX_NAMED: i64 = 5;

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
    // Every id with the prefix sorts between the prefix and the prefix followed by the greatest character.
    let matching = sql!(matching, prefix, format!("{prefix}{}", "z".repeat(15)), MAX_NAMED);
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

/// Everything whose id ends like this, in one project or in all of them.
#[derive(Debug, Clone)]
pub struct ResolveSuffix {
    /// What was typed.
    pub suffix: IdSuffix,
    pub project: Option<ProjectId>,
}

/// The things whose ids end with a suffix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suffixed {
    pub tasks: Vec<TaskId>,
    pub runs: Vec<RunId>,
    pub batches: Vec<BatchId>,
}

// There is no index on the end of an id: each statement walks one index, which is fast enough for what one person
// types.
const TASKS: &str =
    "SELECT id FROM tasks WHERE id LIKE $1 AND ($2 = '' OR project = $2) ORDER BY id LIMIT $3";
const RUNS: &str = "SELECT id FROM runs WHERE id LIKE $1 AND ($2 = '' OR project = $2) ORDER BY id LIMIT $3";
const BATCHES: &str = "SELECT DISTINCT batch FROM tasks WHERE batch LIKE $1 AND ($2 = '' OR project = $2) \
                       ORDER BY batch LIMIT $3";

#[async_trait]
impl Op for ResolveSuffix {
    type Out = Suffixed;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Suffixed, StoreError> {
        let pattern = format!("%{}", self.suffix.as_str());
        let project = self.project.as_ref().map(ProjectId::as_str).unwrap_or_default();
        let statements = [TASKS, RUNS, BATCHES].map(|text| sql!(text, pattern.as_str(), project, MAX_NAMED));
        let mut answers = tx.query_all(statements.to_vec()).await?.into_iter().map(Vec::into_iter);
        let mut next = || answers.next().into_iter().flatten();
        Ok(Suffixed {
            tasks: next().map(|mut row| row.parse()).collect::<Result<_, _>>()?,
            runs: next().map(|mut row| row.parse()).collect::<Result<_, _>>()?,
            batches: next().map(|mut row| row.parse()).collect::<Result<_, _>>()?,
        })
    }
}
