use crate::prelude::*;
use crate::views::SettingView;

/// Reads a setting.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Its name.
    pub key: String,
}

verb!("config.get", Request => SettingView, Reads, People);
