//! Settings of the configuration.

use std::fmt;

use crate::prelude::*;

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingView {
    /// The name, with its wildcard filled in.
    pub key: String,
    /// The value. Passwords are hidden.
    pub value: SettingValue,
    /// Where it came from.
    pub origin: OriginView,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SettingValue {
    /// Nothing set it, and it has no default.
    Unset,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A text or a word.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// The layer that set a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OriginView {
    /// No layer did.
    Default,
    /// The user's file.
    User {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// A variable.
    Environment {
        /// Its name.
        variable: String,
    },
    /// A `--config` flag.
    Flag,
}

impl fmt::Display for OriginView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { path, line } | Self::Project { path, line } => write!(f, "{path}:{line}"),
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag => f.write_str("--config"),
        }
    }
}
