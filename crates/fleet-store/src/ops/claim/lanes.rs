//! The constrained claim: one claimer at a time looks at the head of every lane and lets the pure scheduler choose.
//!
//! The number of statements does not depend on the number of lanes: one walks from lane to lane along the index, one
//! reads the heads of those that could start something.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::budget::{Bounds, RemainingBudget};
use fleet_core::id::ProjectId;
use fleet_core::schedule::{Candidate, Load};
use fleet_core::task::Task;

use super::Claim;
use crate::dialect::Dialect;
use crate::ops::deps::id_list;
use crate::ops::ledger::{spending, spent};
use crate::ops::prelude::*;
use crate::ops::queue_pauses::take_scopes;
use crate::ops::rows::{self, Described, task_columns};
use crate::tx::Lock;

/// At most this many scoped tasks of a lane are passed over because they overlap with running ones.
const SCOPED_LOOKAHEAD: i64 = 64;

#[derive(Debug, Clone)]
struct Lane {
    agent: String,
    project: ProjectId,
    has_scope: i64,
    interactive: bool,
}

impl Lane {
    fn read(mut row: Row) -> Result<Self, StoreError> {
        let (agent, project, has_scope) = (row.text()?, row.parse()?, row.int()?);
        Ok(Self { agent, project, has_scope, interactive: row.int()? == 1 })
    }
}

/// One of four ways to the next lane: from a lane `l`, by the columns of the index that stay as they are.
macro_rules! next_lane {
    ($same:literal, $order:literal) => {
        concat!(
            "(SELECT n.id FROM tasks n {by_lane} WHERE n.status = 'ready' AND ",
            $same,
            " ORDER BY ",
            $order,
            " LIMIT 1)"
        )
    };
}

/// The lanes that have ready tasks. A comparison of rows would say in one line which lane is next, but SQLite uses only
/// the first column of such a comparison with an index.
pub(in crate::ops) const LANES: &str = concat!(
    "WITH RECURSIVE lanes (agent, project, has_scope, interactive) AS ( \
       SELECT f.agent, f.project, f.has_scope, f.interactive FROM ( \
         SELECT agent, project, has_scope, interactive FROM tasks {by_lane} WHERE status = 'ready' \
         ORDER BY agent, project, has_scope, interactive LIMIT 1) AS f \
       UNION ALL \
       SELECT t.agent, t.project, t.has_scope, t.interactive FROM lanes l CROSS JOIN tasks t WHERE t.id = coalesce(",
    next_lane!(
        "n.agent = l.agent AND n.project = l.project AND n.has_scope = l.has_scope AND n.interactive > l.interactive",
        "n.interactive"
    ),
    ", ",
    next_lane!(
        "n.agent = l.agent AND n.project = l.project AND n.has_scope > l.has_scope",
        "n.has_scope, n.interactive"
    ),
    ", ",
    next_lane!("n.agent = l.agent AND n.project > l.project", "n.project, n.has_scope, n.interactive"),
    ", ",
    next_lane!("n.agent > l.agent", "n.agent, n.project, n.has_scope, n.interactive"),
    ")) SELECT agent, project, has_scope, interactive FROM lanes"
);

/// The best tasks of lanes, a limited number of each. Lanes are a JSON list of agent, project and `interactive`, with a
/// scope or without.
macro_rules! head_of_lane {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM tasks h {by_lane} WHERE h.status = 'ready' AND h.agent = j.value ->> 0 \
               AND h.project = j.value ->> 1 AND h.has_scope = $2 AND h.interactive = CAST(j.value ->> 2 AS BIGINT) \
             ORDER BY h.priority DESC, h.id LIMIT $3 {skip_locked}"
        )
    };
}

pub(super) const HEADS_SQLITE: &str = concat!(
    "SELECT t.priority, t.id, t.project, t.agent, t.scope, t.limits FROM {items 1} CROSS JOIN tasks t WHERE t.id IN (",
    head_of_lane!("h.id"),
    ")"
);

/// A subquery that depends on the lane would be run for every task there is; a lateral one is run for every lane.
pub(super) const HEADS_POSTGRES: &str = concat!(
    "SELECT head.* FROM {items 1} CROSS JOIN LATERAL (",
    head_of_lane!("h.priority, h.id, h.project, h.agent, h.scope, h.limits"),
    ") AS head"
);

impl Claim {
    /// The best tasks that nothing stands in the way of, each with what is put aside for it.
    pub(super) async fn constrained(&self, tx: &mut dyn Tx) -> Result<Vec<(Task, Bounds)>, StoreError> {
        tx.lock(Lock::Claim).await?;
        let (mut load, mut lanes) = self.load(tx).await?;
        lanes.retain(|lane| self.could_start(lane, &load));
        let heads = self.heads(tx.dialect(), &lanes);
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

    /// What runs now, who is paused, what was spent, and the lanes that have ready tasks. Runs know their agent; of a task
    /// that names none, another claimer may have started it with another default.
    async fn load(&self, tx: &mut dyn Tx) -> Result<(Load, Vec<Lane>), StoreError> {
        let mut statements = vec![
            sql!("SELECT account FROM pauses WHERE until > $1", self.now),
            sql!("SELECT project, agent, count(*) FROM runs WHERE ended_at IS NULL GROUP BY project, agent"),
            sql!("SELECT project, scope FROM tasks WHERE status = 'running' AND has_scope = 1"),
            sql!(LANES),
        ];
        statements.extend(self.budget.map(|_| spending(self.now)));
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let mut load = Load::default();
        let mut paused: BTreeSet<String> =
            next().into_iter().map(|mut row| row.text()).collect::<Result<_, _>>()?;
        load.queue_pauses = take_scopes(&mut paused)?;
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
        let lanes = next().into_iter().map(Lane::read).collect::<Result<_, _>>()?;
        if let Some(budget) = self.budget {
            load.remaining = Some(RemainingBudget { budget, spent: spent(next())? });
        }
        Ok((load, lanes))
    }

    /// The agents that use these accounts.
    fn paused_agents(&self, accounts: &BTreeSet<String>) -> BTreeSet<String> {
        let known = self.accounts.iter().filter(|(_, account)| accounts.contains(*account));
        let known = known.map(|(agent, _)| agent.as_str());
        // An agent without a named account has one of its own name.
        let others = accounts.iter().map(String::as_str);
        let others = others.filter(|name| !self.accounts.keys().any(|agent| agent.as_str() == *name));
        known.chain(others).map(str::to_owned).collect()
    }

    fn agent(&self, stored: String) -> String {
        if stored.is_empty() { self.default_agent.as_str().to_owned() } else { stored }
    }

    fn could_start(&self, lane: &Lane, load: &Load) -> bool {
        let agent = self.agent(lane.agent.clone());
        self.only.column().is_none_or(|interactive| lane.interactive == interactive)
            && self.has(lane.project)
            && self.can_start(&agent)
            && load.lane(lane.project, &agent, &self.caps).is_ok()
    }

    /// What reads the heads of these lanes: those without a scope, and those with one.
    fn heads(&self, dialect: Dialect, lanes: &[Lane]) -> Vec<Statement> {
        let text = match dialect {
            Dialect::Sqlite => HEADS_SQLITE,
            Dialect::Postgres => HEADS_POSTGRES,
        };
        let mut statements = Vec::new();
        for (has_scope, lookahead) in [(0, 0), (1, SCOPED_LOOKAHEAD)] {
            let named: Vec<_> = lanes
                .iter()
                .filter(|lane| lane.has_scope == has_scope)
                .map(|lane| (&lane.agent, lane.project, i64::from(lane.interactive)))
                .collect();
            if !named.is_empty() {
                let limit = self.slots().saturating_add(lookahead);
                statements.push(sql!(text, serde_json::json!(named).to_string(), has_scope, limit));
            }
        }
        statements
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
async fn read_in_order(
    tx: &mut dyn Tx,
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
