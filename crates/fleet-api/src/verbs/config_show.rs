use crate::prelude::*;
use crate::views::SettingView;

/// Lists every setting that is in force.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// The settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// By their keys.
    pub settings: Vec<SettingView>,
}

verb!("config.show", Request => Answer, Reads, People);
