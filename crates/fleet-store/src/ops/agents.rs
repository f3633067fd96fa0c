//! Agents that take no work for a while.

use fleet_core::event::{Fact, Subject};
use fleet_core::task::AgentName;
use fleet_core::time::Millis;

use super::rows::record;
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// An agent that takes no work until a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The agent.
    pub agent: String,
    /// Until then.
    pub until: Millis,
    /// Why, for people.
    pub why: String,
}

/// Pauses an agent. A pause is only ever made longer: two runs may report the same limit.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of Pause")]
pub struct PauseAgent {
    pub agent: AgentName,
    pub until: Millis,
    pub why: String,
    /// Now.
    pub now: Millis,
}

impl Op for PauseAgent {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), StoreError> {
        let pause = sql!(
            "INSERT INTO pauses (agent, until, why) VALUES ($1, $2, $3) ON CONFLICT (agent) DO UPDATE \
             SET until = excluded.until, why = excluded.why WHERE pauses.until < excluded.until RETURNING 1",
            self.agent.as_str(),
            self.until,
            self.why.as_str(),
        );
        if tx.query(pause).await?.is_empty() {
            return Ok(());
        }
        let fact =
            Fact::AgentPaused { agent: self.agent.to_string(), until: self.until, why: self.why.clone() };
        record(tx, self.now, Subject::default(), &fact).await
    }
}

/// Ends the pause of an agent.
#[derive(Debug, Clone)]
pub struct ResumeAgent {
    /// The agent.
    pub agent: AgentName,
    /// Now.
    pub now: Millis,
}

impl Op for ResumeAgent {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), StoreError> {
        let resume = sql!("DELETE FROM pauses WHERE agent = $1 RETURNING 1", self.agent.as_str());
        if tx.query(resume).await?.is_empty() {
            return Ok(());
        }
        record(tx, self.now, Subject::default(), &Fact::AgentResumed { agent: self.agent.to_string() }).await
    }
}

/// All pauses that are not over.
#[derive(Debug, Clone, Copy)]
pub struct Pauses {
    /// Now.
    pub now: Millis,
}

impl Op for Pauses {
    type Out = Vec<Pause>;
    const MODE: Mode = Mode::Read;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Pause>, StoreError> {
        let all = sql!("SELECT agent, until, why FROM pauses WHERE until > $1 ORDER BY agent", self.now);
        let rows = tx.query_alone(all).await?;
        rows.into_iter()
            .map(|mut row| Ok(Pause { agent: row.text()?, until: Millis(row.int()?), why: row.text()? }))
            .collect()
    }
}
