//! What most verbs and views use.

pub(crate) use fleet_core::id::{RunId, TaskId};
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::verb::verb;
pub(crate) use crate::{Moment, Subject};
