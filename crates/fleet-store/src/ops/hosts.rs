//! Places whose runners are up, and what they can start. Explains why no runner takes a task.

use std::collections::BTreeSet;

use fleet_core::id::ProjectId;
use fleet_core::task::AgentName;

use crate::ops::prelude::*;

/// A place with a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    pub place: String,
    pub name: String,
    /// The agents that can be started there.
    pub agents: BTreeSet<AgentName>,
    pub projects: BTreeSet<ProjectId>,
}

/// Records what a place can start.
#[derive(Debug, Clone)]
pub struct OfferHost {
    pub host: Host,
    pub now: Millis,
}

#[async_trait]
impl Op for OfferHost {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        let offer = sql!(
            "INSERT INTO hosts (place, name, agents, projects, seen_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (place) DO UPDATE SET name = excluded.name, agents = excluded.agents, \
               projects = excluded.projects, seen_at = excluded.seen_at",
            self.host.place.as_str(),
            self.host.name.as_str(),
            serde_json::json!(self.host.agents).to_string(),
            serde_json::json!(self.host.projects).to_string(),
            self.now,
        );
        tx.defer(offer).await
    }
}

/// The places that reported lately, by the names of their machines.
#[derive(Debug, Clone, Copy)]
pub struct ListHosts {
    pub since: Millis,
}

#[async_trait]
impl Op for ListHosts {
    type Out = Vec<Host>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Host>, StoreError> {
        let all = sql!(
            "SELECT place, name, agents, projects FROM hosts WHERE seen_at >= $1 ORDER BY name, place",
            self.since,
        );
        let rows = tx.query_alone(all).await?.into_iter();
        rows.map(|mut row| {
            let (place, name) = (row.text()?, row.text()?);
            Ok(Host { place, name, agents: row.json()?, projects: row.json()? })
        })
        .collect()
    }
}
