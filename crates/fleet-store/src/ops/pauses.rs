//! Accounts that take no work for a while. One row for each, shared by all runners: what one run of an account learns
//! from its provider, all others know.

use std::collections::BTreeMap;

use fleet_core::event::EventSubject;
use fleet_core::policy::{AccountState, ProviderRefusal, after_refusal};
use fleet_core::run::Run;
use fleet_core::schedule::QUEUE_PREFIX;
use fleet_core::task::AgentName;

use super::rows::record;
use super::runs::row::about_run;
use crate::ops::prelude::*;

/// An account that takes no work until a given time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub account: String,
    pub until: Millis,
    /// Pauses in a row without a success between them; none, if a person paused it.
    pub strikes: u32,
    pub why: String,
    /// The agent that was refused, if it was one.
    pub agent: Option<String>,
    /// The run that caused it.
    pub run: Option<RunId>,
    pub set_at: Millis,
}

impl Pause {
    /// Writes it, unless the account is paused for longer already; answers whether that changed anything.
    fn write(&self) -> Statement {
        sql!(
            "INSERT INTO pauses (account, until, strikes, why, agent, run, set_at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (account) DO UPDATE SET until = excluded.until, strikes = excluded.strikes, why = excluded.why, \
             agent = excluded.agent, run = excluded.run, set_at = excluded.set_at \
             WHERE pauses.until < excluded.until RETURNING 1",
            self.account.as_str(),
            self.until,
            self.strikes,
            self.why.as_str(),
            self.agent.as_deref(),
            self.run,
            self.set_at,
        )
    }

    fn fact(&self) -> Fact {
        let (account, agent, why) = (self.account.clone(), self.agent.clone(), self.why.clone());
        Fact::AccountPaused { account, agent, until: self.until, why }
    }
}

/// Pauses an account. A pause is only ever made longer.
#[derive(Debug, Clone)]
pub struct PauseAccount {
    pub account: String,
    pub agent: Option<AgentName>,
    pub until: Millis,
    pub why: String,
    pub now: Millis,
}

#[async_trait]
impl Op for PauseAccount {
    /// False if it was paused for as long already.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let before = account_state(tx, &self.account).await?;
        let pause = Pause {
            account: self.account.clone(),
            until: self.until,
            strikes: before.map_or(0, |before| before.strikes),
            why: self.why.clone(),
            agent: self.agent.as_ref().map(ToString::to_string),
            run: None,
            set_at: self.now,
        };
        if tx.query(pause.write()).await?.is_empty() {
            return Ok(false);
        }
        record(tx, self.now, EventSubject::default(), &pause.fact()).await?;
        Ok(true)
    }
}

/// How an account stands; nothing, if it never was refused anything since its last success.
async fn account_state(tx: &mut dyn Tx, account: &str) -> Result<Option<AccountState>, StoreError> {
    let find = sql!("SELECT until, strikes FROM pauses WHERE account = $1 {for_update}", account);
    let row = tx.query_one(find).await?;
    row.map(|mut row| {
        Ok(AccountState { until: Millis(row.int()?), strikes: u32::try_from(row.int()?).unwrap_or(u32::MAX) })
    })
    .transpose()
}

/// The end of every pause that is not over, by account.
pub(super) async fn pause_ends(tx: &mut dyn Tx, now: Millis) -> Result<BTreeMap<String, Millis>, StoreError> {
    let rows = tx.query(sql!("SELECT account, until FROM pauses WHERE until > $1", now)).await?;
    rows.into_iter().map(|mut row| Ok((row.text()?, Millis(row.int()?)))).collect()
}

/// Pauses the account of a run that its provider refused.
pub(super) async fn pause_after_refusal(
    tx: &mut dyn Tx,
    run: &Run,
    trouble: &ProviderRefusal,
    why: &str,
) -> Result<(), StoreError> {
    let before = account_state(tx, run.account()).await?;
    let after = after_refusal(before, trouble);
    if before == Some(after) {
        return Ok(());
    }
    let pause = Pause {
        account: run.account().to_owned(),
        until: after.until,
        strikes: after.strikes,
        why: why.to_owned(),
        agent: Some(run.agent.clone()),
        run: Some(run.id),
        set_at: trouble.now,
    };
    // Another run of the account may have been the first, a moment ago.
    if !tx.query(pause.write()).await?.is_empty() {
        // Part of the task's story, and news for all projects.
        let subject = EventSubject { project: None, ..about_run(run) };
        record(tx, trouble.now, subject, &pause.fact()).await?;
    }
    Ok(())
}

/// Forgets the strikes of an account that has served a run. Only one that was claimed after the pause says so: others
/// may have had their answers before, and the limit may be what the next one meets.
pub(super) async fn served(tx: &mut dyn Tx, run: &Run, now: Millis) -> Result<(), StoreError> {
    let forget = sql!(
        "DELETE FROM pauses WHERE account = $1 AND until <= $2 AND set_at <= $3",
        run.account(),
        now,
        run.created_at,
    );
    tx.defer(forget).await
}

/// A person ends the pause of an account, and its strikes are forgotten.
#[derive(Debug, Clone)]
pub struct LiftPause {
    pub account: String,
    pub now: Millis,
}

#[async_trait]
impl Op for LiftPause {
    /// False if it was not paused.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let lift = sql!("DELETE FROM pauses WHERE account = $1 RETURNING until", self.account.as_str());
        let Some(mut row) = tx.query_one(lift).await? else { return Ok(false) };
        if Millis(row.int()?) <= self.now {
            return Ok(false);
        }
        let fact = Fact::AccountResumed { account: self.account.clone() };
        record(tx, self.now, EventSubject::default(), &fact).await?;
        Ok(true)
    }
}

/// All pauses of accounts that are not over, by account.
#[derive(Debug, Clone, Copy)]
pub struct ListPauses {
    pub now: Millis,
}

#[async_trait]
impl Op for ListPauses {
    type Out = Vec<Pause>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Pause>, StoreError> {
        let all = sql!(
            "SELECT account, until, strikes, why, agent, run, set_at FROM pauses \
             WHERE until > $1 AND account NOT LIKE $2 ORDER BY account",
            self.now,
            format!("{QUEUE_PREFIX}%"),
        );
        let pause = |mut row: Row| {
            Ok(Pause {
                account: row.text()?,
                until: Millis(row.int()?),
                strikes: u32::try_from(row.int()?).unwrap_or(u32::MAX),
                why: row.text()?,
                agent: row.optional_text()?,
                run: row.optional_parse()?,
                set_at: Millis(row.int()?),
            })
        };
        tx.query_alone(all).await?.into_iter().map(pause).collect()
    }
}
