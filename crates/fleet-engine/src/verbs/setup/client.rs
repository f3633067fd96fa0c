//! The programs that can be told about our tool server, and where each keeps that.

use std::path::{Path, PathBuf};

use fleet_api::verbs::setup::{SetupClient, SetupScope};

use super::entry::ServerEntry;
use super::json::{self, JsonDialect};
use super::{Edited, Made, toml};
use crate::environment::Environment;
use crate::verbs::prelude::*;

/// The format of an entry in the file of a client.
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

/// Where a client keeps its settings, and how our entry gets into them.
pub(super) trait ClientSettings: Copy {
    fn file(self, engine: &Engine, scope: SetupScope) -> Outcome<PathBuf>;
    /// What the text registers under our name.
    fn found(self, text: &str) -> Result<Option<ServerEntry>, String>;
    fn with(self, text: &str, entry: &ServerEntry) -> Result<Edited, String>;
    /// The text without our entry, and without what was made around it; nothing when nothing else is left.
    fn without(self, text: &str, made: Made) -> Result<Option<String>, String>;
}

impl ClientSettings for SetupClient {
    fn file(self, engine: &Engine, scope: SetupScope) -> Outcome<PathBuf> {
        match scope {
            SetupScope::User => user_file(self, engine.environment()),
            SetupScope::Project => {
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

    fn found(self, text: &str) -> Result<Option<ServerEntry>, String> {
        match layout(self) {
            Some((layout, dialect)) => json::found(text, layout, dialect),
            None => toml::found(text),
        }
    }

    fn with(self, text: &str, entry: &ServerEntry) -> Result<Edited, String> {
        match layout(self) {
            Some((layout, dialect)) => json::with(text, entry, layout, dialect),
            None => toml::with(text, entry),
        }
    }

    fn without(self, text: &str, made: Made) -> Result<Option<String>, String> {
        match layout(self) {
            Some((layout, dialect)) => json::without(text, made, layout, dialect),
            None => toml::without(text, made),
        }
    }
}

/// Each has a variable that moves it.
fn user_file(client: SetupClient, environment: &Environment) -> Outcome<PathBuf> {
    let home = environment.user_home();
    let moved = |variable: &str| environment.get_os(variable).map(PathBuf::from);
    Ok(match client {
        SetupClient::Claude => {
            moved("CLAUDE_CONFIG_DIR").map_or_else(|| home.map(Path::to_owned), Ok)?.join(".claude.json")
        }
        SetupClient::Codex => {
            moved("CODEX_HOME").map_or_else(|| home.map(|home| home.join(".codex")), Ok)?.join("config.toml")
        }
        SetupClient::Gemini => {
            let home = moved("GEMINI_CLI_HOME").map_or_else(|| home.map(Path::to_owned), Ok)?;
            home.join(".gemini").join("settings.json")
        }
        SetupClient::Opencode => {
            let config =
                moved("XDG_CONFIG_HOME").map_or_else(|| home.map(|home| home.join(".config")), Ok)?;
            existing(&config.join("opencode"), &["opencode.json", "opencode.jsonc"])
        }
    })
}

/// Its format in JSON; nothing for TOML.
const fn layout(client: SetupClient) -> Option<(Layout, JsonDialect)> {
    match client {
        SetupClient::Claude => Some((Layout::Servers { typed: true }, JsonDialect::Strict)),
        SetupClient::Gemini => Some((Layout::Servers { typed: false }, JsonDialect::Comments)),
        SetupClient::Opencode => Some((Layout::Local, JsonDialect::CommentsAndCommas)),
        SetupClient::Codex => None,
    }
}

/// The first of these that is there, or the first of all.
fn existing(folder: &Path, names: &[&str]) -> PathBuf {
    let all = names.iter().map(|name| folder.join(name));
    all.clone().find(|path| path.exists()).or_else(|| all.clone().next()).unwrap_or_else(|| folder.to_owned())
}
