//! What every verb is made of.

pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::Subject;
pub(crate) use crate::verb::verb;
