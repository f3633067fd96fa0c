//! A value together with where it came from.

use std::path::{Path, PathBuf};

pub use fleet_api::views::OriginView as Origin;
use fleet_api::views::SettingView;

use super::value::Value;

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name, with its wildcard filled in.
    pub key: String,
    /// The value. Passwords are hidden unless it is [revealed](Value::revealed).
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

impl Setting {
    /// As it is shown.
    pub fn view(&self) -> SettingView {
        SettingView { key: self.key.clone(), value: self.value.view(), origin: self.origin.clone() }
    }
}

/// A file that holds configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// The user's own.
    User(PathBuf),
    /// One that came with a repository.
    Project(PathBuf),
}

impl ConfigFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            Self::User(path) | Self::Project(path) => path,
        }
    }

    /// The origin of what stands in that line.
    pub(super) fn origin(&self, line: usize) -> Origin {
        let path = self.path().display().to_string();
        match self {
            Self::User(_) => Origin::User { path, line },
            Self::Project(_) => Origin::Project { path, line },
        }
    }
}
