//! The programs that can be told about our tool server, and where each keeps that.

use std::path::{Path, PathBuf};

use fleet_core::problem::Outcome;
use serde::Serialize;

use super::entry::Entry;
use super::json::{self, Dialect};
use super::{Edited, Made, toml};
use crate::Engine;
use crate::environment::Environment;

/// A program that uses tool servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "these are their names")]
pub enum Client {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// For whom it is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For the user, in every project.
    User,
    /// For everybody who works on the project of the directory.
    Project,
}

/// How an entry lies in the file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `{"mcpServers": {"codefleet": {"command": …, "args": […]}}}`, perhaps with a type.
    Servers {
        /// Whether each entry says that it is a program.
        typed: bool,
    },
    /// `{"mcp": {"codefleet": {"type": "local", "command": […]}}}`
    Local,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// The name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The file that holds the registration. It need not exist.
    pub(super) fn file(self, engine: &Engine, scope: Scope) -> Outcome<PathBuf> {
        match scope {
            Scope::User => self.user_file(engine.environment()),
            Scope::Project => {
                let repository = engine.repository()?;
                let root = repository.work_tree.as_ref().unwrap_or(&repository.common_dir);
                Ok(match self {
                    Self::Claude => root.join(".mcp.json"),
                    Self::Codex => root.join(".codex").join("config.toml"),
                    Self::Gemini => root.join(".gemini").join("settings.json"),
                    Self::Opencode => existing(root, &["opencode.json", "opencode.jsonc"]),
                })
            }
        }
    }

    /// Each has a variable that moves it.
    fn user_file(self, environment: &Environment) -> Outcome<PathBuf> {
        let home = environment.user_home();
        let moved = |variable: &str| environment.get_os(variable).map(PathBuf::from);
        Ok(match self {
            Self::Claude => {
                moved("CLAUDE_CONFIG_DIR").map_or_else(|| home.map(Path::to_owned), Ok)?.join(".claude.json")
            }
            Self::Codex => moved("CODEX_HOME")
                .map_or_else(|| home.map(|home| home.join(".codex")), Ok)?
                .join("config.toml"),
            Self::Gemini => {
                let home = moved("GEMINI_CLI_HOME").map_or_else(|| home.map(Path::to_owned), Ok)?;
                home.join(".gemini").join("settings.json")
            }
            Self::Opencode => {
                let config =
                    moved("XDG_CONFIG_HOME").map_or_else(|| home.map(|home| home.join(".config")), Ok)?;
                existing(&config.join("opencode"), &["opencode.json", "opencode.jsonc"])
            }
        })
    }

    /// What the text registers under our name.
    pub(super) fn found(self, text: &str) -> Result<Option<Entry>, String> {
        match self.layout() {
            Some((layout, dialect)) => json::found(text, layout, dialect),
            None => toml::found(text),
        }
    }

    /// The text with our entry.
    pub(super) fn with(self, text: &str, entry: &Entry) -> Result<Edited, String> {
        match self.layout() {
            Some((layout, dialect)) => json::with(text, entry, layout, dialect),
            None => toml::with(text, entry),
        }
    }

    /// The text without our entry, and without what was made around it; nothing when nothing else is left.
    pub(super) fn without(self, text: &str, made: Made) -> Result<Option<String>, String> {
        match self.layout() {
            Some((layout, dialect)) => json::without(text, made, layout, dialect),
            None => toml::without(text, made),
        }
    }

    /// How it lies in JSON; nothing for TOML.
    const fn layout(self) -> Option<(Layout, Dialect)> {
        match self {
            Self::Claude => Some((Layout::Servers { typed: true }, Dialect::Strict)),
            Self::Gemini => Some((Layout::Servers { typed: false }, Dialect::Comments)),
            Self::Opencode => Some((Layout::Local, Dialect::CommentsAndCommas)),
            Self::Codex => None,
        }
    }
}

/// The first of these that is there, or the first of all.
fn existing(folder: &Path, names: &[&str]) -> PathBuf {
    let all = names.iter().map(|name| folder.join(name));
    all.clone().find(|path| path.exists()).or_else(|| all.clone().next()).unwrap_or_else(|| folder.to_owned())
}
