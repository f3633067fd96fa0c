use crate::prelude::*;

/// Removes a value from a configuration file, and keeps the rest of it as it is.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the setting
    pub key: String,
    /// In the file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    #[serde(default)]
    pub in_project: bool,
}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The name of the setting.
    pub key: String,
    /// Whether it was there.
    pub removed: bool,
    /// The file.
    pub path: String,
}

verb!("config.unset", Request => Answer, Ends, People);
