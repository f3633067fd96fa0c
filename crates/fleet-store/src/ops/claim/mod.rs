//! Claiming: the best ready tasks, atomically, never twice.
//!
//! Usually nothing constrains the choice: no caps, no budget, no paused account, no file scopes, nothing that this claimer
//! does not have. Then the head of the
//! ready index is taken as it is, and many claimers work side by side. Otherwise one claimer at a time counts what
//! runs and what was spent, looks at the head of every lane (agent, project, with or without a scope, in a terminal or
//! not) and lets the pure scheduler choose. Lanes keep the cost flat: a hundred thousand tasks of a paused agent are one lane that is skipped.

mod at_once;
mod lanes;
mod look;
#[cfg(test)]
mod plans;

pub(super) use lanes::LANES;
pub use look::FirstReady;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_core::Current;
use fleet_core::budget::{Bounds, Budget};
use fleet_core::id::ProjectId;
use fleet_core::run::{Run, Totals};
use fleet_core::schedule::Caps;
use fleet_core::task::{AgentName, Task, TaskMove};

use crate::ops::ledger::stored;
use crate::ops::prelude::*;
use crate::ops::rows::{self, Described, step, task_columns, write_move};
use crate::ops::runs::row::about_run;

/// Takes ready tasks for a runner: each gets a run with a lease and an attempt number.
#[derive(Debug, Clone)]
pub struct Claim {
    pub runner: String,
    /// The host and home where the runs will be.
    pub place: String,
    /// Ids for the runs: at most as many tasks are taken.
    pub runs: Vec<RunId>,
    pub only: ClaimOnly,
    /// The agent of tasks that name none.
    pub default_agent: AgentName,
    /// The agents that can be started there; `None` is any. Tasks of others are left to other claimers.
    pub able: Option<BTreeSet<AgentName>>,
    /// The projects that have a checkout there; `None` is any. Tasks of others are left to other claimers.
    pub projects: Option<BTreeSet<ProjectId>>,
    /// The accounts of agents, by which they are paused; one that is not among them goes by the agent's name.
    pub accounts: BTreeMap<AgentName, String>,
    pub caps: Caps,
    /// What may be spent: each run is given a part of it, or is not started.
    pub budget: Option<Budget>,
    /// The lease ends after this unless renewed.
    pub lease: Duration,
    pub now: Millis,
}

/// Which tasks the claimer has room for: agents in terminals take no slot, and have a number of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimOnly {
    #[default]
    Any,
    Headless,
    Interactive,
}

impl ClaimOnly {
    /// What the column `interactive` must be.
    const fn column(self) -> Option<bool> {
        match self {
            Self::Any => None,
            Self::Headless => Some(false),
            Self::Interactive => Some(true),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Claimed {
    pub task: Task,
    pub run: Run,
}

macro_rules! head {
    ($only:literal) => {
        concat!(
            "SELECT ",
            task_columns!(),
            ", (SELECT d.text FROM task_descriptions d WHERE d.task = t.id) FROM tasks t ",
            $only,
            " ORDER BY t.priority DESC, t.id LIMIT $1 {skip_locked}"
        )
    };
}

const HEAD: &str = head!("WHERE t.status = 'ready'");
/// Passes over the interactive tasks at the head: only for a runner whose terminals are all taken.
const HEAD_HEADLESS: &str = head!("WHERE t.status = 'ready' AND t.interactive = 0");
const HEAD_INTERACTIVE: &str = head!("{by_terminal} WHERE t.status = 'ready' AND t.interactive = 1");

/// Whether an account is paused, and whether scheduled tasks are due: seldom, so it costs one look and no write.
const PAUSED_AND_DUE: &str = "SELECT EXISTS (SELECT 1 FROM pauses WHERE until > $1), \
     EXISTS (SELECT 1 FROM tasks WHERE deferred = 1 AND due <= $1)";

/// Scheduled tasks whose time has come take their place among the ready ones. Locked tasks are left to the process that
/// locked them: waiting would line up all claimers for the first task that is due.
const PROMOTE: &str = "UPDATE tasks SET deferred = 0, version = version + 1 WHERE id IN ( \
     SELECT id FROM tasks WHERE deferred = 1 AND due <= $1 {skip_locked})";

#[async_trait]
impl Op for Claim {
    type Out = Vec<Claimed>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Claimed>, StoreError> {
        if self.runs.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(claimed) = self.at_once(tx).await? {
            return Ok(claimed);
        }
        let tasks = match self.unconstrained(tx).await? {
            Some(tasks) => tasks.into_iter().map(|task| (task, Bounds::default())).collect(),
            None => self.constrained(tx).await?,
        };
        let mut claimed = Vec::with_capacity(tasks.len());
        for ((task, given), run) in tasks.into_iter().zip(&self.runs) {
            claimed.push(self.start(tx, task, (*run, given)).await?);
        }
        Ok(claimed)
    }
}

impl Claim {
    /// Whether caps or budgets bound every claim, whatever the queue holds.
    fn is_bounded(&self) -> bool {
        !self.caps.is_empty() || self.budget.is_some_and(|budget| !budget.is_empty())
    }

    fn slots(&self) -> i64 {
        i64::try_from(self.runs.len()).unwrap_or(i64::MAX)
    }

    /// The head of the queue, if nothing constrains the choice.
    async fn unconstrained(&self, tx: &mut dyn Tx) -> Result<Option<Vec<Task>>, StoreError> {
        let look = tx.query_one(sql!(PAUSED_AND_DUE, self.now)).await?;
        let mut look = look.ok_or_else(|| StoreError::Malformed("a look without an answer".to_owned()))?;
        let (paused, due) = (look.int()? != 0, look.int()? != 0);
        if due {
            tx.defer(sql!(PROMOTE, self.now)).await?;
        }
        if paused || self.is_bounded() {
            return Ok(None);
        }
        let head = match self.only {
            ClaimOnly::Any => HEAD,
            ClaimOnly::Headless => HEAD_HEADLESS,
            ClaimOnly::Interactive => HEAD_INTERACTIVE,
        };
        let head = tx.query(sql!(head, self.slots())).await?;
        let tasks =
            head.into_iter().map(|row| rows::task(row, Described::Joined)).collect::<Result<Vec<_>, _>>()?;
        let free = |task: &Task| {
            task.spec.scope.is_empty() && self.can_start(self.agent_of(task)) && self.has(task.project)
        };
        Ok(Some(tasks).filter(|tasks| tasks.iter().all(free)))
    }

    fn agent_of<'a>(&'a self, task: &'a Task) -> &'a str {
        task.agent().unwrap_or(&self.default_agent).as_str()
    }

    /// The account of an agent, if it has one that goes by another name.
    fn account_of(&self, agent: &str) -> Option<&str> {
        self.accounts.iter().find(|(name, _)| name.as_str() == agent).map(|(_, account)| account.as_str())
    }

    fn can_start(&self, agent: &str) -> bool {
        self.able.as_ref().is_none_or(|able| able.iter().any(|name| name.as_str() == agent))
    }

    fn has(&self, project: ProjectId) -> bool {
        self.projects.as_ref().is_none_or(|projects| projects.contains(&project))
    }

    async fn start(
        &self,
        tx: &mut dyn Tx,
        mut task: Task,
        (id, given): (RunId, Bounds),
    ) -> Result<Claimed, StoreError> {
        step(&mut task, TaskMove::Start)?;
        task.history.attempts += 1;
        task.history.remark = None;
        let run = Run { reserved: given, ..self.new_run(&task, id) };
        insert_run(tx, &run).await?;
        let (runner, agent) = (run.runner.clone(), run.agent.clone());
        let fact = Fact::TaskStarted { runner, agent, attempt: run.attempt, lease_until: run.lease_until };
        write_move(tx, &task, self.now, (about_run(&run), &fact)).await?;
        Ok(Claimed { task, run })
    }
}

impl Claim {
    fn new_run(&self, task: &Task, id: RunId) -> Run {
        Run {
            id,
            task: task.id,
            project: task.project,
            attempt: task.history.attempts,
            state: Current::first(),
            reason: None,
            detail: None,
            runner: self.runner.clone(),
            place: self.place.clone(),
            mode: task.spec.mode,
            agent: self.agent_of(task).to_owned(),
            model: None,
            branch: None,
            base: None,
            workspace: None,
            keeper: None,
            session: None,
            meter: None,
            usage: Totals::default(),
            reserved: Bounds::default(),
            account: self.account_of(self.agent_of(task)).map(str::to_owned),
            activity: None,
            percent: None,
            agent_state: None,
            decoded: 0,
            batches: 0,
            stop: None,
            lease_until: self.now.plus(self.lease),
            created_at: self.now,
            started_at: None,
            ended_at: None,
        }
    }
}

async fn insert_run(tx: &mut dyn Tx, run: &Run) -> Result<(), StoreError> {
    let insert = sql!(
        "INSERT INTO runs (id, task, project, fence, state, runner, place, agent, lease_until, created_at, account, \
         reserved_micro_usd, reserved_tokens, interactive) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        run.id,
        run.task,
        run.project,
        run.attempt,
        run.state.as_str(),
        run.runner.as_str(),
        run.place.as_str(),
        run.agent.as_str(),
        run.lease_until,
        run.created_at,
        run.account.as_deref(),
        stored(run.reserved.micro_usd),
        stored(run.reserved.tokens),
        run.mode.is_interactive(),
    );
    tx.defer(insert).await
}
