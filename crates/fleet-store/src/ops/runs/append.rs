//! The events of a run, in batches, each exactly once.

use fleet_core::id::ProjectId;
use fleet_core::run::{AgentStateNow, Meter, Totals};
use serde::{Deserialize, Serialize};

use super::row::run_columns;
use super::texts::bounded;
use crate::ops::ledger::Unbooked;
use crate::ops::prelude::*;
use crate::ops::rows::json;

/// Appends what a stretch of the agent's output says. The run remembers how far its output was read, in the same
/// transaction: a keeper that crashes and reads a stretch again changes nothing with it. What comes from no output is
/// known by the number of its batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AppendRunEvents {
    pub run: RunId,
    pub attempt: i64,
    /// Where the stretch begins, in bytes: where the last one ended.
    pub from: i64,
    /// Where it ends; the same, for events that are not of the agent's output.
    pub to: i64,
    /// Which batch of the run this is: each has a higher number than those before it.
    pub batch: i64,
    /// What it says, and when that was read.
    pub facts: Vec<(Millis, Fact)>,
    /// What the run has used by now, if that changed.
    pub usage: Option<Totals>,
    /// The last thing that the agent said, if it said something.
    pub activity: Option<String>,
    /// The agent's own name for the conversation, if that is new.
    pub session: Option<String>,
    /// Now: what was used is booked on this day.
    pub now: Millis,
    /// The new values of the agent's own counters, if they are known.
    pub meter: Option<Meter>,
}

/// The longest activity, in characters: it is shown in a column of a list.
pub(super) const LONGEST_ACTIVITY: usize = 200;
/// Of what an agent in a terminal asks, in characters: its event has all of it, and the row is written often.
const LONGEST_STATE_TEXT: usize = 500;
/// Conversation ids are shorter; a longer text is not one.
const LONGEST_SESSION: usize = 500;

/// A run uses no more than this: an agent that counts wildly must not spoil the sums of all others.
const MAX_USED: u64 = 1 << 44;

/// As many as one statement writes: the text that carries them stays small.
const CHUNK: usize = 1_000;

#[async_trait]
impl Op for AppendRunEvents {
    /// False if everything was stored before.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let Some((project, task, unbooked)) = self.advance(tx).await? else { return self.explain(tx).await };
        for facts in self.facts.chunks(CHUNK) {
            let rows: Vec<_> = facts
                .iter()
                .map(|(at, fact)| {
                    let (kind, data) = fact.parts();
                    (at.0, kind, data)
                })
                .collect();
            let insert = sql!(
                "INSERT INTO events (at, project, task, run, kind, data) \
                 SELECT CAST(j.value ->> 0 AS BIGINT), $2, $3, $4, j.value ->> 1, j.value ->> 2 \
                 FROM {items 1} ORDER BY j.key",
                serde_json::json!(rows).to_string(),
                project,
                task,
                self.run,
            );
            tx.announce();
            tx.defer(insert).await?;
        }
        unbooked.book(tx, self.run, self.now).await?;
        Ok(true)
    }
}

impl AppendRunEvents {
    /// Moves the run's mark, if it stands where this stretch begins and the lease holds.
    async fn advance(&self, tx: &mut dyn Tx) -> Result<Option<(ProjectId, TaskId, Unbooked)>, StoreError> {
        let count = |number: u64| i64::try_from(number.min(MAX_USED)).unwrap_or(i64::MAX);
        let now = AgentStateNow::last(&self.facts);
        let now = now.as_ref();
        let advance = sql!(
            "UPDATE runs SET decoded = $4, input_tokens = coalesce($5, input_tokens), \
             output_tokens = coalesce($6, output_tokens), micro_usd = coalesce($7, micro_usd), \
             activity = coalesce($8, activity), session = coalesce($9, session), \
             meter = coalesce($10, meter), \
             agent_state = coalesce($12, agent_state), agent_state_text = coalesce($13, agent_state_text), \
             agent_state_evidence = coalesce($14, agent_state_evidence), \
             agent_state_since = CASE WHEN agent_state = $12 AND agent_state_text = $13 THEN agent_state_since \
               ELSE coalesce($15, agent_state_since) END, batches = CASE WHEN batches < $11 THEN $11 ELSE batches END \
             WHERE id = $1 AND fence = $2 AND decoded = $3 AND ended_at IS NULL AND (decoded < $4 OR batches < $11) \
             RETURNING project, task, micro_usd - booked_micro_usd, input_tokens + output_tokens - booked_tokens",
            self.run,
            self.attempt,
            self.from,
            self.to.max(self.from),
            self.usage.map(|usage| count(usage.input_tokens)),
            self.usage.map(|usage| count(usage.output_tokens)),
            self.usage.map(|usage| count(usage.micro_usd)),
            self.activity.as_deref().map(|text| bounded(text, LONGEST_ACTIVITY)),
            self.session.as_deref().map(|text| bounded(text, LONGEST_SESSION)),
            self.meter.as_ref().map(json).transpose()?,
            self.batch,
            now.map(|now| now.state.as_str()),
            now.map(|now| bounded(&now.text, LONGEST_STATE_TEXT)),
            now.map(|now| bounded(&now.evidence, LONGEST_STATE_TEXT)),
            now.map(|now| now.since),
        );
        let row = tx.query_one(advance).await?;
        row.map(|mut row| {
            let (project, task) = (row.parse()?, row.parse()?);
            Ok((project, task, Unbooked { micro_usd: row.int()?, tokens: row.int()? }))
        })
        .transpose()
    }

    /// Why the mark did not move.
    async fn explain(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let find = sql!(concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.id = $1"), self.run);
        let row = tx.query_one(find).await?;
        let mut row = row.ok_or_else(|| StoreError::RunNotFound(self.run.to_string()))?;
        let run = super::row::run(&mut row)?;
        if run.attempt != self.attempt || !run.state.is_live() {
            return Err(StoreError::LeaseLost { run: self.run });
        }
        if run.decoded >= self.to {
            return Ok(false);
        }
        Err(StoreError::OutOfStep { run: self.run, decoded: run.decoded, from: self.from })
    }
}
