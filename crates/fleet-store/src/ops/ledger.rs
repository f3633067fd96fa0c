//! What all runs used: booked once, in the same transaction as what each of them used.

use fleet_core::budget::{Bounds, Budget, Day, Spent, Used};

use super::rows::read_task;
use super::runs::row::lock_live_run;
use crate::ops::prelude::*;
use crate::tx::Lock;

/// What was used today and in all, and what is reserved for running agents.
#[derive(Debug, Clone, Copy)]
pub struct Spending {
    pub now: Millis,
}

#[async_trait]
impl Op for Spending {
    type Out = Spent;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Spent, StoreError> {
        spent(tx.query_alone(spending(self.now)).await?)
    }
}

/// In one statement, which sees one moment: what a run has used is no longer put aside for it, and a look at the one
/// before and at the other after would miss it in both.
pub(super) fn spending(now: Millis) -> Statement {
    sql!(
        "SELECT (SELECT CAST(coalesce(sum(micro_usd), 0) AS BIGINT) FROM ledger WHERE day = $1), \
         (SELECT CAST(coalesce(sum(tokens), 0) AS BIGINT) FROM ledger WHERE day = $1), \
         (SELECT CAST(coalesce(sum(micro_usd), 0) AS BIGINT) FROM ledger), \
         (SELECT CAST(coalesce(sum(tokens), 0) AS BIGINT) FROM ledger), \
         (SELECT CAST(coalesce(sum(reserved_micro_usd - micro_usd), 0) AS BIGINT) FROM runs \
            WHERE ended_at IS NULL AND reserved_micro_usd > micro_usd), \
         (SELECT CAST(coalesce(sum(reserved_tokens - input_tokens - output_tokens), 0) AS BIGINT) FROM runs \
            WHERE ended_at IS NULL AND reserved_tokens > input_tokens + output_tokens)",
        Day::of(now).0,
    )
}

pub(super) fn spent(rows: Vec<Row>) -> Result<Spent, StoreError> {
    let nothing = || StoreError::Malformed("a sum without an answer".to_owned());
    let mut row = rows.into_iter().next().ok_or_else(nothing)?;
    let mut used = || -> Result<Used, StoreError> {
        let mut amount = || row.int().map(|number| u64::try_from(number).unwrap_or(0));
        Ok(Used { micro_usd: amount()?, tokens: amount()? })
    };
    Ok(Spent { day: used()?, total: used()?, reserved: used()? })
}

/// Puts more aside for a run that has nearly used its part. Only what it has in the end is the bound for its keeper:
/// that may be as much as before.
#[derive(Debug, Clone, Copy)]
pub struct ReserveMore {
    pub run: RunId,
    pub attempt: i64,
    pub budget: Budget,
    pub now: Millis,
}

#[async_trait]
impl Op for ReserveMore {
    /// What it has now.
    type Out = Bounds;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Bounds, StoreError> {
        // As for a claim: what is left must not be given to two.
        tx.lock(Lock::Claim).await?;
        let run = lock_live_run(tx, self.run, self.attempt).await?;
        let spent = spent(tx.query(spending(self.now)).await?)?;
        let limits = read_task(tx, run.task).await?.spec.limits;
        let held = self.budget.extend(&spent, limits, run.reserved);
        if held != run.reserved {
            let keep = sql!(
                "UPDATE runs SET reserved_micro_usd = $2, reserved_tokens = $3 WHERE id = $1",
                run.id,
                stored(held.micro_usd),
                stored(held.tokens),
            );
            tx.defer(keep).await?;
        }
        Ok(held)
    }
}

/// As its column stores it.
pub(super) fn stored(part: Option<u64>) -> Option<i64> {
    part.map(|part| i64::try_from(part).unwrap_or(i64::MAX))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unbooked {
    pub(super) micro_usd: i64,
    pub(super) tokens: i64,
}

impl Unbooked {
    /// Books it on the day of `now`. The caller holds the run's row.
    pub(super) async fn book(self, tx: &mut dyn Tx, run: RunId, now: Millis) -> Result<(), StoreError> {
        if (self.micro_usd, self.tokens) == (0, 0) {
            return Ok(());
        }
        let mark = sql!(
            "UPDATE runs SET booked_micro_usd = micro_usd, booked_tokens = input_tokens + output_tokens WHERE id = $1",
            run,
        );
        tx.defer(mark).await?;
        let book = sql!(
            "INSERT INTO ledger (day, micro_usd, tokens) VALUES ($1, $2, $3) ON CONFLICT (day) DO UPDATE \
             SET micro_usd = ledger.micro_usd + excluded.micro_usd, tokens = ledger.tokens + excluded.tokens",
            Day::of(now).0,
            self.micro_usd,
            self.tokens,
        );
        tx.defer(book).await
    }
}
