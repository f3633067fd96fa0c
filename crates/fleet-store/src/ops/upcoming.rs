//! How many tasks need nothing but a runner. Counted along indexes: a list of them would read every row.

use std::collections::BTreeMap;

use fleet_core::id::ProjectId;
use fleet_core::task::AgentName;

use super::claim::LANES;
use super::rows::agent_name;
use crate::ops::prelude::*;

/// Counts tasks that are ready, and those that will be when their time has come.
#[derive(Debug, Clone)]
pub struct CountUpcoming {
    /// Counting stops here, for each of the two; every agent with ready tasks in a project is named all the same.
    pub limit: i64,
    pub now: Millis,
}

/// The tasks of one project for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpcomingTasks {
    pub project: ProjectId,
    /// `None` is the configured default.
    pub agent: Option<AgentName>,
    pub ready: usize,
    pub scheduled: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upcoming {
    pub tasks: Vec<UpcomingTasks>,
    /// Whether some were not counted.
    pub more_ready: bool,
    pub more_scheduled: bool,
}

macro_rules! count {
    ($from:literal) => {
        concat!(
            "SELECT c.project, c.agent, c.is_scheduled, count(*) FROM (SELECT t.project, t.agent, ",
            $from,
            " LIMIT $1) AS c GROUP BY c.project, c.agent, c.is_scheduled"
        )
    };
}

/// Along the index of lanes, in its order: without one, PostgreSQL reads the table from its beginning.
pub(super) const READY: &str = count!(
    "0 AS is_scheduled FROM tasks t {by_lane} WHERE t.status = 'ready' \
     ORDER BY t.agent, t.project, t.has_scope, t.interactive, t.priority DESC, t.id"
);
/// Stored as scheduled. The time of the first ones may have come, and no claim has looked since.
pub(super) const DEFERRED: &str = count!(
    "CASE WHEN t.due > $2 THEN 1 ELSE 0 END AS is_scheduled FROM tasks t \
     WHERE t.deferred = 1 AND t.state = 'queued' AND t.open_deps = 0 ORDER BY t.due"
);

#[async_trait]
impl Op for CountUpcoming {
    type Out = Upcoming;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Upcoming, StoreError> {
        let most = self.limit + 1;
        let statements = vec![sql!(LANES), sql!(READY, most), sql!(DEFERRED, most, self.now)];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let lanes = answers.next().unwrap_or_default();
        let mut counts = BTreeMap::<(ProjectId, String), Counts>::new();
        for mut row in answers.flatten() {
            let (key, kind) = ((row.parse()?, row.text()?), usize::from(row.int()? != 0));
            counts.entry(key).or_default()[kind] += usize::try_from(row.int()?).unwrap_or(0);
        }
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let (more_ready, more_scheduled) =
            (cut(counts.values_mut(), 0, limit), cut(counts.values_mut(), 1, limit));
        // A lane that was not reached has one at least: this machine may have the agent of that lane only.
        for mut row in lanes {
            let (agent, project) = (row.text()?, row.parse()?);
            let ready = &mut counts.entry((project, agent)).or_default()[0];
            *ready = (*ready).max(1);
        }
        let tasks = counts.into_iter().map(|((project, agent), [ready, scheduled])| {
            Ok(UpcomingTasks { project, agent: agent_name(agent)?, ready, scheduled })
        });
        Ok(Upcoming { tasks: tasks.collect::<Result<_, StoreError>>()?, more_ready, more_scheduled })
    }
}

/// Ready and scheduled ones.
type Counts = [usize; 2];

/// Leaves at most so many of a kind; returns whether there were more.
fn cut<'c>(counts: impl Iterator<Item = &'c mut Counts>, kind: usize, limit: usize) -> bool {
    let (mut left, mut is_cut) = (limit, false);
    for counts in counts {
        is_cut |= counts[kind] > left;
        counts[kind] = counts[kind].min(left);
        left -= counts[kind];
    }
    is_cut
}
