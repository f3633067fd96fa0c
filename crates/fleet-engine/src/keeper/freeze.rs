//! Freezing the agent while every agent of this home is to be frozen.
//!
//! Owns the clock by which the agent's limits count: it stands still while the agent does. A file of the home says whether
//! agents are frozen, so that neither the death of a runner nor that of the command that froze them changes anything.

use std::path::Path;
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::process::{FrozenTree, ProcessTree};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

use super::blocking;
use crate::clock;
use crate::home::{Home, RunFolder, create_private};

/// How often to look without being asked to.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Whether every agent of this home is to be frozen.
pub(super) type FreezeOrder = watch::Receiver<bool>;

/// Looks at intervals, and at once when the keeper is woken (SIGUSR1).
pub(super) fn listen(home: &Home) -> Outcome<FreezeOrder> {
    let file = home.frozen();
    let (tell, order) = watch::channel(is_there(&file));
    let mut nudges = signal(SignalKind::user_defined1())
        .map_err(|error| Problem::new(Code::Internal, format!("cannot listen for signals: {error}")))?;
    tokio::spawn(async move {
        while !tell.is_closed() {
            tokio::select! {
                () = sleep(POLL_INTERVAL) => {}
                _ = nudges.recv() => {}
            }
            let frozen = is_there(&file);
            tell.send_if_modified(|before| std::mem::replace(before, frozen) != frozen);
        }
    });
    Ok(order)
}

fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}

/// An agent that can be frozen.
#[derive(Debug)]
pub(super) struct Freezer {
    pub(super) order: FreezeOrder,
    folder: RunFolder,
    frozen: Option<(FrozenTree, Duration)>,
    /// How long it was frozen before.
    lost: Duration,
    has_ended: bool,
}

impl Freezer {
    pub(super) fn new(mut order: FreezeOrder, folder: RunFolder) -> Self {
        // One that came before the agent was started counts as well.
        order.mark_changed();
        Self { order, folder, frozen: None, lost: Duration::ZERO, has_ended: false }
    }

    pub(super) const fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// How long the machine was awake while the agent was not frozen.
    pub(super) fn now(&self) -> Duration {
        let uptime = self.frozen.as_ref().map_or_else(clock::uptime, |(_, since)| *since);
        uptime.saturating_sub(self.lost)
    }

    /// The agent is gone, perhaps killed while it was frozen: the clock goes on, and nothing is frozen any more.
    pub(super) fn agent_ended(&mut self) {
        self.has_ended = true;
        if let Some((_, since)) = self.frozen.take() {
            self.lost += clock::uptime().saturating_sub(since);
            let _ = std::fs::remove_file(self.folder.frozen());
        }
    }

    /// Does what was ordered.
    pub(super) async fn obey(&mut self, tree: &ProcessTree) {
        let is_wanted = *self.order.borrow_and_update() && !self.has_ended;
        match (self.frozen.take(), is_wanted) {
            (None, true) => {
                let (since, tree) = (clock::uptime(), tree.clone());
                let frozen = blocking(move || tree.freeze()).await;
                self.frozen = frozen.ok().map(|frozen| (frozen, since));
                let _ = create_private(&self.folder.frozen());
            }
            (Some((frozen, since)), false) => {
                self.lost += clock::uptime().saturating_sub(since);
                let _ = blocking(move || frozen.thaw()).await;
                let _ = std::fs::remove_file(self.folder.frozen());
            }
            (unchanged, _) => self.frozen = unchanged,
        }
    }
}

impl super::Keeper<'_> {
    /// No agent is started while all are frozen, unless its run is to end anyway.
    pub(super) async fn wait_while_frozen(&self) {
        let (mut order, mut orders) = (self.freeze_order.clone(), self.orders.clone());
        while *order.borrow_and_update() && orders.borrow_and_update().is_none() {
            tokio::select! {
                changed = order.changed() => if changed.is_err() { return },
                changed = orders.changed() => if changed.is_err() { return },
            }
        }
    }
}
