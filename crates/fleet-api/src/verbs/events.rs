//! `events`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::EventView;

/// Reads events in their order, and waits for new ones.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Those after this number, the oldest of them first; the newest ones, if left out.
    pub after: Option<i64>,
    /// Only those of the directory's project.
    pub only_project: bool,
    /// At most so many; 500 if left out.
    pub limit: Option<u32>,
    /// Wait at most so long for the first one; not at all, if left out.
    pub wait_seconds: Option<u32>,
}

/// A page of events.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they happened.
    pub events: Vec<EventView>,
    /// `after` of the next page.
    pub next: i64,
}

verb!("events", Request => Answer, Reads, People);
