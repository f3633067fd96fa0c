//! A value together with where it came from.
//!
//! Owns how both are shown. Must never decide which layer wins.

use std::fmt;
use std::path::{Path, PathBuf};

use fleet_api::views::{OriginView, SettingView};

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
        SettingView { key: self.key.clone(), value: self.value.view(), origin: self.origin.view() }
    }
}

/// The layer that set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// No layer did.
    Default,
    /// The user's file.
    User {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        path: PathBuf,
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

impl Origin {
    fn view(&self) -> OriginView {
        let shown = |path: &Path| path.display().to_string();
        match self.clone() {
            Self::Default => OriginView::Default,
            Self::User { path, line } => OriginView::User { path: shown(&path), line },
            Self::Project { path, line } => OriginView::Project { path: shown(&path), line },
            Self::Environment { variable } => OriginView::Environment { variable },
            Self::Flag => OriginView::Flag,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
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
        match self {
            Self::User(path) => Origin::User { path: path.clone(), line },
            Self::Project(path) => Origin::Project { path: path.clone(), line },
        }
    }
}
