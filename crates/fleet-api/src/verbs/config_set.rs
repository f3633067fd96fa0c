use crate::prelude::*;
use crate::views::SettingView;

/// Sets a value in a configuration file, and keeps the rest of it as it is.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the setting
    pub key: String,
    /// Its new value
    #[arg(allow_hyphen_values = true)]
    pub value: String,
    /// In the file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    #[serde(default)]
    pub in_project: bool,
}

/// What it is now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The setting.
    pub setting: SettingView,
    /// What is probably a mistake.
    pub warnings: Vec<String>,
}

verb!("config.set", Request => Answer, Adds, People);
