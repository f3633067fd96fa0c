//! What must always hold, whatever was killed: checked by `fleet doctor` and by the tests that kill.

use crate::ops::prelude::*;

/// Looks for rows that contradict each other. The findings are for people; empty is good.
#[derive(Debug, Clone, Copy)]
pub struct Audit;

/// What is wrong with each row that the statement finds: the first column names it.
const CHECKS: &[(&str, &str)] = &[
    (
        "counts its open dependencies wrongly",
        "SELECT t.id FROM tasks t WHERE t.open_deps <> ( \
           SELECT count(*) FROM deps d JOIN tasks o ON o.id = d.on_task WHERE d.task = t.id AND o.state <> 'done') LIMIT 10",
    ),
    (
        "is running without exactly one live run of its newest claim",
        "SELECT t.id FROM tasks t WHERE t.status = 'running' AND 1 <> ( \
           SELECT count(*) FROM runs r WHERE r.task = t.id AND r.ended_at IS NULL AND r.fence = t.fence) LIMIT 10",
    ),
    (
        "is live, but its task is not running",
        "SELECT r.id FROM runs r LEFT JOIN tasks t ON t.id = r.task \
         WHERE r.ended_at IS NULL AND (t.state IS NULL OR t.state <> 'running') LIMIT 10",
    ),
    (
        "has a state that contradicts its end",
        "SELECT r.id FROM runs r WHERE (r.state IN ('preparing', 'running', 'finishing')) <> (r.ended_at IS NULL) LIMIT 10",
    ),
    (
        "was claimed another number of times than it has runs",
        "SELECT t.id FROM tasks t WHERE t.fence <> (SELECT count(*) FROM runs r WHERE r.task = t.id) LIMIT 10",
    ),
    (
        "is in a state that this version does not know",
        "SELECT t.id FROM tasks t WHERE t.state NOT IN \
           ('queued', 'running', 'waiting', 'held', 'done', 'failed', 'cancelled') LIMIT 10",
    ),
    (
        "is scheduled for no moment",
        "SELECT t.id FROM tasks t WHERE t.deferred = 1 AND t.due IS NULL LIMIT 10",
    ),
    (
        "is due at another moment than its author and its failures say",
        "SELECT t.id FROM tasks t WHERE t.due IS DISTINCT FROM \
           CASE WHEN t.retry_at IS NULL OR t.retry_at < t.not_before THEN t.not_before ELSE t.retry_at END LIMIT 10",
    ),
    (
        "has files and is not known for it, or the other way round",
        "SELECT t.id FROM tasks t WHERE (t.scope <> '[]') <> (t.has_scope = 1) LIMIT 10",
    ),
    (
        "runs in a terminal and is not known for it, or the other way round",
        "SELECT t.id FROM tasks t WHERE (t.interactive = 1) <> (t.spec LIKE '%\"mode\":\"interactive\"%') LIMIT 10",
    ),
    (
        "has booked another sum than its runs",
        "SELECT 'the ledger' WHERE (SELECT coalesce(sum(micro_usd), 0) FROM ledger) <> \
           (SELECT coalesce(sum(booked_micro_usd), 0) FROM runs) \
         OR (SELECT coalesce(sum(tokens), 0) FROM ledger) <> (SELECT coalesce(sum(booked_tokens), 0) FROM runs)",
    ),
    (
        "was handed over to the agent that it had",
        "SELECT t.id FROM tasks t WHERE t.asked_agent = t.agent LIMIT 10",
    ),
    (
        "has a stage that is not where its task is",
        "SELECT p.workflow || ' ' || p.name FROM parts p JOIN tasks t ON t.id = p.task \
         WHERE p.replaced = 0 AND p.state <> 'done' AND p.state <> \
           CASE WHEN t.state IN ('done', 'failed', 'cancelled') THEN t.state ELSE 'running' END LIMIT 10",
    ),
    (
        "is a task of a workflow that does not know it",
        "SELECT t.id FROM tasks t LEFT JOIN parts p ON p.workflow = t.workflow AND p.part = t.part \
         WHERE t.workflow IS NOT NULL AND p.task IS DISTINCT FROM t.id LIMIT 10",
    ),
    (
        "is over, but a stage of it is not, or the other way round",
        "SELECT w.id FROM workflows w WHERE (w.ended_at IS NULL) <> EXISTS ( \
           SELECT 1 FROM parts p WHERE p.workflow = w.id AND p.replaced = 0 AND p.state IN ('pending', 'running')) \
         OR (w.ended_at IS NULL) <> (w.state IN ('running', 'cancelling')) LIMIT 10",
    ),
    (
        "has a stage that waits for nothing",
        "SELECT w.id FROM workflows w WHERE w.ended_at IS NULL AND NOT EXISTS ( \
           SELECT 1 FROM parts p WHERE p.workflow = w.id AND p.replaced = 0 AND p.state = 'running') LIMIT 10",
    ),
    (
        "is an event with a gap before it",
        "SELECT CAST(e.seq AS TEXT) FROM events e WHERE e.seq > 1 \
           AND NOT EXISTS (SELECT 1 FROM events p WHERE p.seq = e.seq - 1) LIMIT 10",
    ),
];

#[async_trait]
impl Op for Audit {
    type Out = Vec<String>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        for (what, check) in CHECKS {
            for mut row in tx.query(sql!(check)).await? {
                findings.push(format!("{} {what}", row.text()?));
            }
        }
        Ok(findings)
    }
}
