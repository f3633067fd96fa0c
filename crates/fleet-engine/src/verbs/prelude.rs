//! What most verbs use.

pub(crate) use fleet_api::Moment;
pub(crate) use fleet_core::id::{RunId, TaskId};
pub(crate) use fleet_core::problem::{Code, Outcome, Problem};
pub(crate) use fleet_core::run::Run;
pub(crate) use fleet_core::time::Millis;
pub(crate) use fleet_store::{StoreError, ops};

pub(crate) use crate::keeper::blocking;
pub(crate) use crate::{Engine, clock, problems};
