//! What this place can start: its agents, and the repositories that are really here.
//!
//! Owns how often that is looked at, and that the store knows it, so that every place can say why no runner takes a
//! task. Must never start a task that is not here: other places may have what it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_core::id::ProjectId;
use fleet_core::problem::Outcome;
use fleet_core::project::Project;
use fleet_core::time::Millis;
use fleet_host::machine;
use fleet_store::ops::{Host, OfferHost, ProjectAt, ProjectsAt};

use super::able;
use crate::keeper::{blocking, checkout};
use crate::{Engine, allowed, checkouts, clock};

/// How long a repository counts as present after a look.
const PRESENT_FOR: Duration = Duration::from_secs(1);
/// One that was not there is looked for again after this.
const RETRY_DELAY: Duration = Duration::from_secs(5);
/// The offer is repeated at least this often, even without changes, and missing repositories are looked for.
const REPEAT_INTERVAL: Duration = Duration::from_mins(1);
/// A place that was silent for this long has no runner any more.
pub(crate) const GONE_AFTER: Duration = Duration::from_mins(3);

/// What this place can start, as far as it was looked at.
#[derive(Debug, Default)]
pub(super) struct Offer {
    looked: BTreeMap<ProjectId, (Duration, bool)>,
    told: Option<(Duration, Host)>,
}

impl Offer {
    pub(super) async fn projects(&mut self, engine: &Engine) -> Outcome<BTreeSet<ProjectId>> {
        let mut here = BTreeSet::new();
        for at in engine.call(ProjectsAt { place: engine.place()? }).await? {
            if self.is_here(engine, &at).await {
                here.insert(at.project.id);
            }
        }
        Ok(here)
    }

    async fn is_here(&mut self, engine: &Engine, at: &ProjectAt) -> bool {
        let (id, now) = (at.project.id, clock::uptime());
        if let Some((last, is_here)) = self.looked.get(&id) {
            let patience = match (at.is_known, is_here) {
                (true, true) => PRESENT_FOR,
                (true, false) => RETRY_DELAY,
                (false, _) => REPEAT_INTERVAL,
            };
            if now.saturating_sub(*last) < patience {
                return *is_here;
            }
        }
        // What earlier versions knew of it is not enough: there may be another repository at its path.
        let is_known = at.is_known && at.project.root.is_some();
        let is_here =
            if is_known { checkouts::check(engine, at).await.is_ok() } else { join(engine, at).await };
        self.looked.insert(id, (clock::uptime(), is_here));
        is_here
    }

    /// Tells the store, if it does not know or has not heard for long.
    pub(super) async fn publish(&mut self, engine: &Engine) -> Outcome<()> {
        let projects = self.projects(engine).await?;
        let host = Host { place: engine.place()?, name: machine::name(), agents: able(engine)?, projects };
        let now = clock::uptime();
        if self
            .told
            .as_ref()
            .is_some_and(|(at, told)| *told == host && now.saturating_sub(*at) < REPEAT_INTERVAL)
        {
            return Ok(());
        }
        engine.call(OfferHost { host: host.clone(), now: clock::now() }).await?;
        self.told = Some((now, host));
        Ok(())
    }

    /// Takes it back: no place has to wait until it is old. Another runner here says it again.
    pub(super) async fn withdraw(self, engine: &Engine) {
        if let Some((_, host)) = self.told {
            let _ = engine.call(OfferHost { host, now: Millis(0) }).await;
        }
    }
}

/// This place is not known to have the project. It has, if the same repository is at the path where others have it.
async fn join(engine: &Engine, at: &ProjectAt) -> bool {
    let Some(there) = engine_at(engine, at).await else { return false };
    is_same(&there, at).await && there.project().await.is_ok_and(|now| now.id == at.project.id)
}

/// Whether a runner here would join the project.
pub(super) async fn could_join(engine: &Engine, at: &ProjectAt) -> bool {
    let Some(there) = engine_at(engine, at).await else { return false };
    is_same(&there, at).await && allowed::check(&there).is_ok()
}

async fn engine_at(engine: &Engine, at: &ProjectAt) -> Option<Engine> {
    let (own, path) = (engine.reloaded(), checkout(&at.project));
    blocking(move || own.at(path)).await.ok()?.ok()
}

async fn is_same(there: &Engine, at: &ProjectAt) -> bool {
    let is_same = |project: Option<Project>| project.is_some_and(|project| project.id == at.project.id);
    there.known_project().await.is_ok_and(is_same)
}
