//! The constrained claim: one claimer at a time looks at the head of every lane and lets the pure scheduler choose.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::budget::{Bounds, Purse};
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::schedule::{Candidate, Load};
use fleet_core::task::Task;

use super::Claim;
use crate::StoreError;
use crate::ops::deps::id_list;
use crate::ops::ledger::{spending, spent};
use crate::ops::rows::{self, Described, task_columns};
use crate::tx::{Lock, Statement, Tx, sql};
use crate::value::Row;

/// Scoped tasks that do not fit beside those that run are passed over, so many in each lane at most.
const SCOPED_LOOKAHEAD: i64 = 64;

#[derive(Debug, Clone)]
struct Lane {
    agent: String,
    project: String,
    scoped: i64,
}

impl Claim {
    /// The best tasks that nothing stands in the way of, each with what is put aside for it.
    pub(super) async fn constrained<T: Tx>(&self, tx: &mut T) -> Result<Vec<(Task, Bounds)>, StoreError> {
        tx.lock(Lock::Claim).await?;
        let mut load = self.load(tx).await?;
        let heads = self.lanes(tx, &load).await?.iter().map(|lane| self.head(lane)).collect();
        let mut queue = Vec::new();
        for row in tx.query_all(heads).await?.into_iter().flatten() {
            queue.push(self.candidate(row)?);
        }
        queue.sort_by_key(|(priority, candidate)| (std::cmp::Reverse(*priority), candidate.task));
        let chosen: Vec<(TaskId, Bounds)> = queue
            .iter()
            .filter_map(|(_, candidate)| Some((candidate.task, load.admit(candidate, &self.caps).ok()?)))
            .take(self.runs.len())
            .collect();
        read_in_order(tx, &chosen).await
    }

    /// What runs now, who is paused, and what was spent. Runs know their agent; of a task that names none, another claimer may
    /// have started it with another default.
    async fn load<T: Tx>(&self, tx: &mut T) -> Result<Load, StoreError> {
        let mut statements = vec![
            sql!("SELECT account FROM pauses WHERE until > $1", self.now),
            sql!("SELECT project, agent, count(*) FROM runs WHERE ended_at IS NULL GROUP BY project, agent"),
            sql!("SELECT project, scope FROM tasks WHERE status = 'running' AND scoped = 1"),
        ];
        statements.extend(self.budget.map(|_| spending(self.now)));
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let mut load = Load::default();
        let paused: BTreeSet<String> =
            next().into_iter().map(|mut row| row.text()).collect::<Result<_, _>>()?;
        load.paused = self.paused_agents(&paused);
        for mut row in next() {
            let (project, agent): (ProjectId, _) = (row.parse()?, row.text()?);
            let count = u32::try_from(row.int()?).unwrap_or(u32::MAX);
            load.total += count;
            *load.per_project.entry(project).or_default() += count;
            *load.per_agent.entry(agent).or_default() += count;
        }
        for mut row in next() {
            load.scopes.entry(row.parse()?).or_default().push(row.json()?);
        }
        if let Some(budget) = self.budget {
            load.purse = Some(Purse { budget, spent: spent(next())? });
        }
        Ok(load)
    }

    /// The agents that use these accounts.
    fn paused_agents(&self, accounts: &BTreeSet<String>) -> BTreeSet<String> {
        let known = self.accounts.iter().filter(|(_, account)| accounts.contains(*account));
        let known = known.map(|(agent, _)| agent.as_str());
        // An agent whose account nobody names has one of its own name.
        let others = accounts.iter().map(String::as_str);
        let others = others.filter(|name| !self.accounts.keys().any(|agent| agent.as_str() == *name));
        known.chain(others).map(str::to_owned).collect()
    }

    fn agent(&self, stored: String) -> String {
        if stored.is_empty() { self.default_agent.as_str().to_owned() } else { stored }
    }

    /// The lanes that have ready tasks and could start one: a walk from lane to lane along the index.
    async fn lanes<T: Tx>(&self, tx: &mut T, load: &Load) -> Result<Vec<Lane>, StoreError> {
        let mut lanes = Vec::new();
        let mut last = Lane { agent: String::new(), project: String::new(), scoped: -1 };
        loop {
            let next = sql!(
                "SELECT agent, project, scoped FROM tasks \
                 WHERE status = 'ready' AND (agent, project, scoped) > ($1, $2, $3) \
                 ORDER BY agent, project, scoped LIMIT 1",
                last.agent.as_str(),
                last.project.as_str(),
                last.scoped,
            );
            let Some(mut row) = tx.query_one(next).await? else { return Ok(lanes) };
            last = Lane { agent: row.text()?, project: row.text()?, scoped: row.int()? };
            let project = last.project.parse().map_err(|error| StoreError::Malformed(format!("{error}")))?;
            let agent = self.agent(last.agent.clone());
            if self.can_start(&agent) && load.lane(project, &agent, &self.caps).is_ok() {
                lanes.push(last.clone());
            }
        }
    }

    fn head(&self, lane: &Lane) -> Statement {
        let lookahead = if lane.scoped == 1 { SCOPED_LOOKAHEAD } else { 0 };
        sql!(
            "SELECT priority, id, project, agent, scope, limits FROM tasks \
             WHERE status = 'ready' AND agent = $1 AND project = $2 AND scoped = $3 \
             ORDER BY priority DESC, id LIMIT $4 {skip_locked}",
            lane.agent.as_str(),
            lane.project.as_str(),
            lane.scoped,
            self.slots().saturating_add(lookahead),
        )
    }

    fn candidate(&self, mut row: Row) -> Result<(i64, Candidate), StoreError> {
        let priority = row.int()?;
        let (task, project) = (row.parse()?, row.parse()?);
        let agent = self.agent(row.text()?);
        let (scope, limits) = (row.json()?, row.json()?);
        Ok((priority, Candidate { task, project, agent, scope, limits }))
    }
}

/// The chosen tasks, whole, in the order of the choice.
async fn read_in_order<T: Tx>(
    tx: &mut T,
    chosen: &[(TaskId, Bounds)],
) -> Result<Vec<(Task, Bounds)>, StoreError> {
    let whole = sql!(
        concat!(
            "SELECT ",
            task_columns!(),
            ", d.text FROM tasks t LEFT JOIN task_descriptions d ON d.task = t.id WHERE t.id IN {list 1}"
        ),
        id_list(chosen.iter().map(|(id, _)| *id)),
    );
    let rows = tx.query(whole).await?;
    let mut tasks = BTreeMap::new();
    for row in rows {
        let task = rows::task(row, Described::Joined)?;
        tasks.insert(task.id, task);
    }
    Ok(chosen.iter().filter_map(|(id, given)| Some((tasks.remove(id)?, *given))).collect())
}
