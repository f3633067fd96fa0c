use crate::prelude::*;
use crate::verbs::trust_show::{self, WishesView};

/// Approves what a repository requests: what was shown, as far as the repository still requests exactly that.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What this workflow requests to run: its name, or its file.
    pub workflow: Option<String>,
    /// What the user has seen.
    pub asked: WishesView,
}

/// Its result.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// How it is now.
    #[serde(flatten)]
    pub status: trust_show::Answer,
    /// Whether it was otherwise before.
    pub changed: bool,
}

verb!("trust", Request => Answer, Adds, People);
