//! `resume`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::Launched;

/// Queues tasks again that failed, were cancelled, or wait; they go on with the work that is on their branches.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Ids of tasks or runs, the beginnings of them, or branches: all of them are taken up, or none.
    pub ids: Vec<String>,
    /// All tasks of this batch that can be taken up.
    pub batch: Option<String>,
}

verb!("resume", Request => Launched, Adds, Own);
