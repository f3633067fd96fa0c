//! A registered entry: a command, and the home that it uses.

use std::path::Path;

use fleet_api::verbs::setup::SetupScope;

use crate::environment::Environment;
use crate::verbs::prelude::*;

pub(super) const HOME: &str = "FLEET_HOME";

/// The relevant part of an entry of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEntry {
    /// The program and its arguments; empty if it is not a program.
    pub(super) words: Vec<String>,
    /// `FLEET_HOME`, if the entry sets it.
    pub(super) home: Option<String>,
}

impl ServerEntry {
    /// What this binary registers.
    ///
    /// Only the name if the `PATH` leads to this binary, because that stays right when a new version is installed
    /// elsewhere; else the whole path. A file that is shared with others always has only the name. A client may start
    /// us without the user's variables, so that a home other than the default is written down.
    pub(super) fn ours(engine: &Engine, scope: SetupScope) -> Outcome<Self> {
        if scope == SetupScope::Project {
            return Ok(Self { words: vec!["fleet".to_owned(), "mcp".to_owned()], home: None });
        }
        let environment = engine.environment();
        let binary = Environment::this_binary()?;
        let real = |path: &Path| path.canonicalize().ok();
        let is_this = |found: &Path| {
            let sibling = binary.with_file_name("fleet");
            real(found).is_some_and(|found| [real(&binary), real(&sibling)].contains(&Some(found)))
        };
        let on_path = environment.find_program("fleet").is_some_and(|found| is_this(&found));
        let program = if on_path { "fleet".to_owned() } else { text(&binary)? };
        let is_moved = [HOME, "FLEET_BASE_DIR"].iter().any(|name| environment.get_os(name).is_some());
        let home = is_moved.then(|| text(engine.home().root())).transpose()?;
        Ok(Self { words: vec![program, "mcp".to_owned()], home })
    }

    /// Whether this or another codefleet wrote it.
    pub(super) fn is_codefleet(&self) -> bool {
        let [program, argument] = self.words.as_slice() else { return false };
        let name = Path::new(program).file_name().and_then(|name| name.to_str());
        matches!(name, Some("fleet" | "flt")) && argument == "mcp"
    }

    /// The same; a binary may also have been renamed.
    pub(super) fn is_ours(&self, wanted: &Self) -> bool {
        self.is_codefleet() || self.words == wanted.words
    }

    /// Whether it does what `wanted` would.
    pub(super) fn is_equivalent_to(&self, wanted: &Self) -> bool {
        self.words == wanted.words && (wanted.home.is_none() || self.home == wanted.home)
    }
}

fn text(path: &Path) -> Outcome<String> {
    path.to_str().map(ToOwned::to_owned).ok_or_else(|| {
        Problem::new(
            Code::SetupRefused,
            format!("the path {} is not UTF-8, so clients cannot read it", path.display()),
        )
    })
}
