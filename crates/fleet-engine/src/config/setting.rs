//! A value together with where it came from.
//!
//! Owns how both are shown and serialised. Must never decide which layer wins.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::value::Value;

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The name, with its wildcard filled in.
    pub key: String,
    /// The value. Passwords are hidden unless it is [revealed](Value::revealed).
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// The layer that set a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// No layer did.
    Default,
    /// The user's file.
    User {
        /// The file.
        #[serde(serialize_with = "shown_path")]
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        #[serde(serialize_with = "shown_path")]
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

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { path, line } | Self::Project { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag => f.write_str("--config"),
        }
    }
}

/// A path that is not UTF-8 would otherwise make the whole answer fail.
fn shown_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
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
