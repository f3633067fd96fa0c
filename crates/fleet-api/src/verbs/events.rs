use crate::prelude::*;
use crate::views::EventView;

/// Reads events in their order, and waits for new ones.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only events after this number; 0 is all of them [default: the newest]
    #[arg(long = "since", value_name = "SEQ", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(0..))]
    pub after: Option<i64>,
    /// Only events of this repository
    #[arg(long = "here")]
    pub only_project: bool,
    /// At most N; 500 if left out.
    #[arg(skip)]
    pub limit: Option<u32>,
    /// How long to wait for the first one; not at all, if left out.
    #[arg(skip)]
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
