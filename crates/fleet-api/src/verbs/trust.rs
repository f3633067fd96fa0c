use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::verbs::trust_show::{self, WishesView};

/// Agrees to what a repository wants: to what was shown, as far as the repository still wants exactly that.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// To what this workflow wants to run: its name, or its file.
    pub workflow: Option<String>,
    /// What the user has seen.
    pub asked: WishesView,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// How it is now.
    #[serde(flatten)]
    pub status: trust_show::Answer,
    /// Whether it was otherwise before.
    pub changed: bool,
}

verb!("trust", Request => Answer, Adds, People);
