use crate::prelude::*;
use crate::views::SettingView;

/// Sets values in a configuration file, all of them or none, and keeps the rest of it as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What to set.
    pub settings: Vec<NewSetting>,
    /// In the file of the directory's repository instead of the user's own.
    #[serde(default)]
    pub in_project: bool,
}

/// A setting and its new value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSetting {
    /// The name of the setting.
    pub key: String,
    /// Its new value, as a person writes it.
    pub value: String,
}

/// What is set now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order of the request.
    pub settings: Vec<SettingView>,
    /// What is probably a mistake.
    pub warnings: Vec<String>,
}

verb!("config.set", Request => Answer, Adds, People);
