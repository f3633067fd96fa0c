//! The unconstrained claim as one statement, on PostgreSQL. Eight claimers are bound by the server's work per message;
//! separate statements for the head, the runs and the events cost eight messages for each claim.

use super::{Claim, ClaimOnly, Claimed};
use crate::dialect::Dialect;
use crate::ops::prelude::*;
use crate::ops::rows::{self, Described, task_columns};

/// Returns nothing when a pause, a task that is due, a file scope, or a project or an agent that is not here constrains
/// the choice. It writes what `Claim::start` writes; the story tests hold the two together. Conditions on the place and
/// the accounts cost time, so a claimer without them has a statement without them.
///
/// `$paired` and `$chosen` pair tasks with runs. A claimer that wants one task, as most do, needs no numbering for
/// that, which saves a tenth. The tasks are named by an array: PostgreSQL estimates a limit that is a parameter as a
/// tenth of the table, and would read the whole table for the join. For the same reason a single task has a literal
/// limit, or it would be replanned for each claim.
macro_rules! at_once {
    (($limit:literal, $paired:expr, $chosen:expr, $order:literal), ($column:expr, $account:expr)) => {
        concat!(
            "WITH head AS ( \
               SELECT id, has_scope, priority, agent, project FROM tasks WHERE status = 'ready' \
                 AND NOT EXISTS (SELECT 1 FROM pauses WHERE until > $1) \
                 AND NOT EXISTS (SELECT 1 FROM tasks WHERE deferred = 1 AND due <= $1) \
               ORDER BY priority DESC, id LIMIT ",
            $limit,
            " FOR UPDATE SKIP LOCKED), ",
            $paired,
            "moved AS ( \
               UPDATE tasks t SET state = 'running', fence = fence + 1, remark = NULL, version = version + 1, updated_at = $1 ",
            $chosen,
            "), \
             started AS ( \
               INSERT INTO runs (id, task, project, fence, state, runner, place, agent, lease_until, created_at, \
                 interactive",
            $column,
            ") SELECT run, id, project, fence, 'preparing', $3, $6, coalesce(nullif(agent, ''), $4), $5, $1, interactive",
            $account,
            " FROM moved), \
             told AS ( \
               INSERT INTO events (at, project, task, run, kind, data) \
                 SELECT $1, project, id, run, 'task.started', json_build_object('runner', $3::text, 'agent', \
                   coalesce(nullif(agent, ''), $4::text), 'attempt', fence, 'lease_until', $5::bigint)::text \
                 FROM (SELECT * FROM moved ",
            $order,
            ") AS m) \
             SELECT t.run, ",
            task_columns!(),
            ", (SELECT d.text FROM task_descriptions d WHERE d.task = t.id) FROM moved t ",
            $order
        )
    };
    (one $unable:expr, $account:tt) => {
        at_once!(
            (
                "1",
                "",
                concat!(
                    "WHERE t.id = (SELECT id FROM head WHERE NOT (has_scope = 1",
                    $unable,
                    ")) RETURNING t.*, $2::text AS run"
                ),
                ""
            ),
            $account
        )
    };
    (many $unable:expr, $account:tt) => {
        at_once!(
            (
                "jsonb_array_length($2::text::jsonb)",
                concat!(
                    "paired AS ( \
                       SELECT h.id, r.run FROM (SELECT id, row_number() OVER (ORDER BY priority DESC, id) AS place FROM head) AS h \
                         JOIN jsonb_array_elements_text($2::text::jsonb) WITH ORDINALITY AS r (run, place) ON r.place = h.place \
                       WHERE NOT EXISTS (SELECT 1 FROM head WHERE has_scope = 1",
                    $unable,
                    ")), "
                ),
                "WHERE t.id = ANY (ARRAY(SELECT id FROM paired)) \
                 RETURNING t.*, (SELECT p.run FROM paired p WHERE p.id = t.id) AS run",
                "ORDER BY priority DESC, id"
            ),
            $account
        )
    };
    ($how:ident plain) => {
        at_once!($how "", ("", ""))
    };
    ($how:ident knowing) => {
        at_once!(
            $how
            " OR ($7::text IS NOT NULL AND \
               coalesce(nullif(agent, ''), $4) NOT IN (SELECT jsonb_array_elements_text($7::text::jsonb))) \
             OR ($9::text IS NOT NULL AND project NOT IN (SELECT jsonb_array_elements_text($9::text::jsonb)))",
            (", account", ", $8::text::jsonb ->> coalesce(nullif(agent, ''), $4)")
        )
    };
}

const ONE: &str = at_once!(one plain);
pub(super) const ONE_KNOWING: &str = at_once!(one knowing);
const MANY: &str = at_once!(many plain);
pub(super) const MANY_KNOWING: &str = at_once!(many knowing);

impl Claim {
    /// The whole claim, if this engine can do it in one statement and nothing constrains it. Claimers without a slot or
    /// without a terminal do so seldom, and have no statement for it.
    pub(super) async fn at_once(&self, tx: &mut dyn Tx) -> Result<Option<Vec<Claimed>>, StoreError> {
        if tx.dialect() != Dialect::Postgres || self.is_bounded() || self.only != ClaimOnly::Any {
            return Ok(None);
        }
        let knows = self.able.is_some() || self.projects.is_some() || !self.accounts.is_empty();
        let (text, runs) = match (self.runs.as_slice(), knows) {
            ([run], false) => (ONE, run.to_string()),
            ([run], true) => (ONE_KNOWING, run.to_string()),
            (runs, false) => (MANY, serde_json::json!(runs).to_string()),
            (runs, true) => (MANY_KNOWING, serde_json::json!(runs).to_string()),
        };
        let mut statement = sql!(
            text,
            self.now,
            runs,
            self.runner.as_str(),
            self.default_agent.as_str(),
            self.now.plus(self.lease),
            self.place.as_str(),
        );
        if knows {
            let able = self.able.as_ref().map(|able| serde_json::json!(able).to_string());
            let projects = self.projects.as_ref().map(|projects| serde_json::json!(projects).to_string());
            let accounts = serde_json::json!(self.accounts).to_string();
            statement.params.extend([able.into(), accounts.into(), projects.into()]);
        }
        let rows = tx.query_alone(statement).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        tx.announce();
        rows.into_iter().map(|row| self.read(row)).collect::<Result<_, _>>().map(Some)
    }

    fn read(&self, mut row: Row) -> Result<Claimed, StoreError> {
        let run = row.parse()?;
        let task = rows::task(row, Described::Joined)?;
        Ok(Claimed { run: self.new_run(&task, run), task })
    }
}
