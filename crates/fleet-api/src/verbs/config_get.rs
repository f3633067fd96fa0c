use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::SettingView;

/// Looks a setting up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Its name.
    pub key: String,
}

verb!("config.get", Request => SettingView, Reads, People);
