//! Claiming: the best ready tasks, atomically, never twice.
//!
//! Usually nothing constrains the choice: no caps, no paused agent, no file scopes. Then the head of the ready
//! index is taken as it is, and many claimers work side by side. Otherwise one claimer at a time counts what
//! runs, looks at the head of every lane (agent, project, with or without a scope) and lets the pure scheduler
//! choose. Lanes keep the cost flat: a hundred thousand tasks of a paused agent are one lane that is skipped.

mod at_once;

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::{ProjectId, RunId, TaskId};
use fleet_core::run::{Run, RunState, Totals};
use fleet_core::schedule::{Candidate, Caps, Load};
use fleet_core::scope::FileScope;
use fleet_core::task::{AgentName, Task, TaskMove};
use fleet_core::time::Millis;

use crate::StoreError;
use crate::ops::deps::id_list;
use crate::ops::rows::{self, Described, record, step, task_columns, write_state};
use crate::ops::runs::row::about_run;
use crate::tx::{Lock, Mode, Op, Statement, Tx, sql};
use crate::value::Row;

/// Takes ready tasks for a runner: each gets a run with a lease and a fencing number.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who claims.
    pub runner: String,
    /// The host and home where the runs will be.
    pub place: String,
    /// Ids for the runs: as many tasks are taken at most.
    pub runs: Vec<RunId>,
    /// The agent of tasks that name none.
    pub default_agent: AgentName,
    /// The agents that can be started there; `None` is any. Tasks of others are left to other claimers.
    pub able: Option<BTreeSet<AgentName>>,
    /// How many may run at once.
    pub caps: Caps,
    /// The lease ends after this unless renewed.
    pub lease: Duration,
    /// Now.
    pub now: Millis,
}

/// A task that now belongs to the claimer.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The task, running.
    pub task: Task,
    /// Its new run.
    pub run: Run,
}

/// Scoped tasks that do not fit beside those that run are passed over, so many in each lane at most.
const SCOPED_LOOKAHEAD: i64 = 64;

const HEAD: &str = concat!(
    "SELECT ",
    task_columns!(),
    ", (SELECT d.text FROM task_descriptions d WHERE d.task = t.id) FROM tasks t WHERE t.status = 'ready' \
     ORDER BY t.priority DESC, t.id LIMIT $1 {skip_locked}"
);

/// Whether an agent is paused, and whether scheduled tasks are due: seldom, so it costs one look and no write.
const LOOK: &str = "SELECT EXISTS (SELECT 1 FROM pauses WHERE until > $1), \
     EXISTS (SELECT 1 FROM tasks WHERE deferred = 1 AND due <= $1)";

/// Scheduled tasks whose time has come take their place among the ready ones. Whom somebody else holds is left
/// to them: waiting would line up all claimers, one behind the other, for the first task that is due.
const PROMOTE: &str = "UPDATE tasks SET deferred = 0, version = version + 1 WHERE id IN ( \
     SELECT id FROM tasks WHERE deferred = 1 AND due <= $1 {skip_locked})";

impl Op for Claim {
    type Out = Vec<Claimed>;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Claimed>, StoreError> {
        if self.runs.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(claimed) = self.at_once(tx).await? {
            return Ok(claimed);
        }
        let tasks = match self.unconstrained(tx).await? {
            Some(tasks) => tasks,
            None => self.constrained(tx).await?,
        };
        let mut claimed = Vec::with_capacity(tasks.len());
        for (task, run) in tasks.into_iter().zip(&self.runs) {
            claimed.push(self.start(tx, task, *run).await?);
        }
        Ok(claimed)
    }
}

impl Claim {
    fn slots(&self) -> i64 {
        i64::try_from(self.runs.len()).unwrap_or(i64::MAX)
    }

    /// The head of the queue, if nothing constrains the choice.
    async fn unconstrained<T: Tx>(&self, tx: &mut T) -> Result<Option<Vec<Task>>, StoreError> {
        let look = tx.query_one(sql!(LOOK, self.now)).await?;
        let mut look = look.ok_or_else(|| StoreError::Malformed("a look without an answer".to_owned()))?;
        let (paused, due) = (look.int()? != 0, look.int()? != 0);
        if due {
            tx.defer(sql!(PROMOTE, self.now)).await?;
        }
        if paused || !self.caps.is_empty() {
            return Ok(None);
        }
        let head = tx.query(sql!(HEAD, self.slots())).await?;
        let tasks =
            head.into_iter().map(|row| rows::task(row, Described::Joined)).collect::<Result<Vec<_>, _>>()?;
        let free = |task: &Task| task.spec.scope.is_empty() && self.can_start(self.agent_of(task));
        Ok(Some(tasks).filter(|tasks| tasks.iter().all(free)))
    }

    /// The agent of a task, the default filled in.
    fn agent_of<'a>(&'a self, task: &'a Task) -> &'a str {
        task.spec.agent.as_ref().unwrap_or(&self.default_agent).as_str()
    }

    fn can_start(&self, agent: &str) -> bool {
        self.able.as_ref().is_none_or(|able| able.iter().any(|name| name.as_str() == agent))
    }

    async fn constrained<T: Tx>(&self, tx: &mut T) -> Result<Vec<Task>, StoreError> {
        tx.lock(Lock::Claim).await?;
        let mut load = self.load(tx).await?;
        let heads = self.lanes(tx, &load).await?.iter().map(|lane| self.head(lane)).collect();
        let mut queue = Vec::new();
        for row in tx.query_all(heads).await?.into_iter().flatten() {
            queue.push(self.candidate(row)?);
        }
        queue.sort_by_key(|(priority, candidate)| (std::cmp::Reverse(*priority), candidate.task));
        let chosen: Vec<TaskId> = queue
            .iter()
            .filter(|(_, candidate)| load.admit(candidate, &self.caps).is_ok())
            .map(|(_, candidate)| candidate.task)
            .take(self.runs.len())
            .collect();
        read_in_order(tx, &chosen).await
    }

    /// What runs now, and who is paused. Runs know their agent; of a task that names none, another claimer may
    /// have started it with another default.
    async fn load<T: Tx>(&self, tx: &mut T) -> Result<Load, StoreError> {
        let statements = vec![
            sql!("SELECT agent FROM pauses WHERE until > $1", self.now),
            sql!("SELECT project, agent, count(*) FROM runs WHERE ended_at IS NULL GROUP BY project, agent"),
            sql!("SELECT project, scope FROM tasks WHERE status = 'running' AND scoped = 1"),
        ];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        let mut load = Load::default();
        for mut row in next() {
            load.paused.insert(row.text()?);
        }
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
        Ok(load)
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
            "SELECT priority, id, project, agent, scope FROM tasks \
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
        let scope: FileScope = row.json()?;
        Ok((priority, Candidate { task, project, agent, scope }))
    }

    async fn start<T: Tx>(&self, tx: &mut T, mut task: Task, id: RunId) -> Result<Claimed, StoreError> {
        step(&mut task, TaskMove::Start)?;
        task.history.fence += 1;
        task.history.remark = None;
        write_state(tx, &task, self.now).await?;
        let run = self.new_run(&task, id);
        insert_run(tx, &run).await?;
        let (runner, agent) = (run.runner.clone(), run.agent.clone());
        let fact = Fact::TaskStarted { runner, agent, attempt: run.fence, lease_until: run.lease_until };
        record(tx, self.now, about_run(&run), &fact).await?;
        Ok(Claimed { task, run })
    }
}

impl Claim {
    /// The run that a started task gets.
    fn new_run(&self, task: &Task, id: RunId) -> Run {
        Run {
            id,
            task: task.id,
            project: task.project,
            fence: task.history.fence,
            state: RunState::Preparing,
            reason: None,
            detail: None,
            runner: self.runner.clone(),
            place: self.place.clone(),
            agent: self.agent_of(task).to_owned(),
            model: None,
            branch: None,
            base: None,
            workspace: None,
            keeper: None,
            session: None,
            usage: Totals::default(),
            activity: None,
            percent: None,
            decoded: 0,
            stop: None,
            lease_until: self.now.plus(self.lease),
            created_at: self.now,
            started_at: None,
            ended_at: None,
        }
    }
}

#[derive(Debug, Clone)]
struct Lane {
    agent: String,
    project: String,
    scoped: i64,
}

async fn insert_run<T: Tx>(tx: &mut T, run: &Run) -> Result<(), StoreError> {
    let insert = sql!(
        "INSERT INTO runs (id, task, project, fence, state, runner, place, agent, lease_until, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        run.id,
        run.task,
        run.project,
        run.fence,
        run.state.as_str(),
        run.runner.as_str(),
        run.place.as_str(),
        run.agent.as_str(),
        run.lease_until,
        run.created_at,
    );
    tx.defer(insert).await
}

/// The chosen tasks, whole, in the order of the choice.
async fn read_in_order<T: Tx>(tx: &mut T, chosen: &[TaskId]) -> Result<Vec<Task>, StoreError> {
    let whole = sql!(
        concat!(
            "SELECT ",
            task_columns!(),
            ", d.text FROM tasks t LEFT JOIN task_descriptions d ON d.task = t.id WHERE t.id IN {list 1}"
        ),
        id_list(chosen.iter().copied()),
    );
    let rows = tx.query(whole).await?;
    let mut tasks =
        rows.into_iter().map(|row| rows::task(row, Described::Joined)).collect::<Result<Vec<_>, _>>()?;
    tasks.sort_by_key(|task| chosen.iter().position(|id| *id == task.id));
    Ok(tasks)
}
