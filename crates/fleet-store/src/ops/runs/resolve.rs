//! From what a person typed to a run.

use fleet_core::id::{IdPrefix, ProjectId};

use crate::ops::prelude::*;

/// The run that a user names: by its id, by the id of its task (the newest run), or by its branch (the newest run). Ids
/// may be shortened.
#[derive(Debug, Clone)]
pub struct ResolveRun {
    pub typed: String,
    /// The project whose branches come first; of the others only if it has none of that name.
    pub project: Option<ProjectId>,
}

/// At most this many candidates are named when several match.
const MAX_NAMED: i64 = 5;
/// A branch is searched among this many of its newest runs.
const RUNS_OF_A_BRANCH: i64 = 100;

#[async_trait]
impl Op for ResolveRun {
    type Out = RunId;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<RunId, StoreError> {
        let mut found = self.by_id(tx).await?;
        found.extend(self.by_branch(tx).await?);
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [] => Err(StoreError::RunNotFound(self.typed.clone())),
            [one] => Ok(*one),
            several => Err(StoreError::Ambiguous {
                prefix: self.typed.clone(),
                matches: several.iter().map(ToString::to_string).collect(),
            }),
        }
    }
}

impl ResolveRun {
    async fn by_id(&self, tx: &mut dyn Tx) -> Result<Vec<RunId>, StoreError> {
        let run = IdPrefix::<RunId>::parse(&self.typed).ok();
        let task = IdPrefix::<TaskId>::parse(&self.typed).ok();
        let runs = run.map(|prefix| {
            between("SELECT id FROM runs WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3", prefix.as_str())
        });
        let newest_of_tasks = task.map(|prefix| {
            between(
                "SELECT (SELECT r.id FROM runs r WHERE r.task = t.id ORDER BY r.fence DESC LIMIT 1) \
                 FROM tasks t WHERE t.id >= $1 AND t.id <= $2 AND t.fence > 0 ORDER BY t.id LIMIT $3",
                prefix.as_str(),
            )
        });
        let statements: Vec<Statement> = runs.into_iter().chain(newest_of_tasks).collect();
        let rows = tx.query_all(statements).await?.into_iter().flatten();
        rows.map(|mut row| row.parse()).collect()
    }

    /// The newest run of the branch in each project, or only in the one that was named.
    async fn by_branch(&self, tx: &mut dyn Tx) -> Result<Vec<RunId>, StoreError> {
        let runs = sql!(
            "SELECT project, id FROM runs WHERE branch = $1 ORDER BY id DESC LIMIT $2",
            self.typed.as_str(),
            RUNS_OF_A_BRANCH,
        );
        let mut newest: Vec<(ProjectId, RunId)> = Vec::new();
        for mut row in tx.query(runs).await? {
            let (project, run) = (row.parse()?, row.parse()?);
            if newest.iter().all(|(other, _)| *other != project) {
                newest.push((project, run));
            }
        }
        let own = newest.iter().find(|(project, _)| Some(*project) == self.project).copied();
        Ok(own.map_or(newest, |own| vec![own]).into_iter().map(|(_, run)| run).collect())
    }
}

/// Every id with the prefix sorts between the prefix and the prefix followed by the greatest character.
fn between(text: &'static str, prefix: &str) -> Statement {
    sql!(text, prefix, format!("{prefix}{}", "z".repeat(15)), MAX_NAMED)
}
