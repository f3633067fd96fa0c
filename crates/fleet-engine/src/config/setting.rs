//! A value together with where it came from.

use std::path::{Path, PathBuf};

pub use fleet_api::views::OriginView as Origin;
use fleet_api::views::SettingView;

use super::value::ConfigValue;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name, with its wildcard filled in.
    pub key: String,
    /// The value. Passwords are hidden unless it is [revealed](Value::revealed).
    pub value: ConfigValue,
    pub origin: Origin,
}

impl Setting {
    pub fn view(&self) -> SettingView {
        SettingView { key: self.key.clone(), value: self.value.view(), origin: self.origin.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    User(PathBuf),
    Project(PathBuf),
}

impl ConfigFile {
    pub fn path(&self) -> &Path {
        match self {
            Self::User(path) | Self::Project(path) => path,
        }
    }

    /// The origin of what is in that line.
    pub(super) fn origin(&self, line: usize) -> Origin {
        let path = self.path().display().to_string();
        match self {
            Self::User(_) => Origin::User { path, line },
            Self::Project(_) => Origin::Project { path, line },
        }
    }
}
