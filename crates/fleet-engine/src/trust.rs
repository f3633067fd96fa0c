//! Whether commands that came with a repository may run.
//!
//! Owns what the user agreed to, in `$FLEET_HOME/trust.json`. Consent is to exact commands in one project: other
//! commands, or the same ones in another clone, are asked about again. Must never run anything, and never ask a person.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::time::Millis;
use fleet_core::workflow::Spec;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::{Config, Origin, Setting, Value};
use crate::exchange::Exclusive;

/// Far more than anybody agrees to; the oldest go first, and are asked about again.
const MOST: usize = 1_000;

/// Enough for so many of the longest paths, and little enough to read.
const LIMIT: u64 = 16 * 1024 * 1024;

/// The format of the file.
const VERSION: u32 = 1;

/// Commands that a repository brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectCommands {
    /// The project: its git common dir.
    pub project: String,
    /// The settings that hold them, each with its place in the project's file.
    pub commands: Vec<Setting>,
}

impl ProjectCommands {
    /// What the configuration in force takes from the project's file.
    pub fn of(config: &Config, project: impl Into<String>) -> Self {
        Self { project: project.into(), commands: config.commands_of_project() }
    }

    /// What a workflow of the project wants to run: its checks, and what its agents are started with. Each is shown as
    /// the list of its words, because nobody but us splits it.
    pub fn of_workflow(project: impl Into<String>, file: &Path, spec: &Spec) -> Self {
        let words = |words: &Vec<String>| serde_json::json!(words).to_string();
        let mut commands = Vec::new();
        for stage in &spec.stages {
            let mut list = |what: &str, items: Vec<String>| {
                if !items.is_empty() {
                    let origin = Origin::Project { path: file.to_owned(), line: 1 };
                    let key = format!("stages.{}.{what}", stage.name);
                    commands.push(Setting { key, value: Value::List(items), origin });
                }
            };
            list("checks", stage.checks.iter().map(words).collect());
            list("extra_args", stage.extra_args.clone());
        }
        Self { project: project.into(), commands }
    }

    /// With the lines on which they stand, by their keys.
    #[must_use]
    pub fn on_lines(mut self, lines: &BTreeMap<String, usize>) -> Self {
        for Setting { key, origin, .. } in &mut self.commands {
            if let (Origin::Project { line, .. }, Some(known)) = (origin, lines.get(key)) {
                *line = *known;
            }
        }
        self
    }

    /// Whether all of them may run.
    pub fn is_trusted(&self, home: &Path) -> Outcome<bool> {
        Ok(self.commands.is_empty() || Trust::new(home).covers(self)?)
    }

    /// The commands themselves, in the order in which they would run.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().flat_map(|setting| setting.value.texts()).map(String::as_str)
    }

    /// What somebody is told whose run needs them.
    pub fn refusal(&self) -> Problem {
        let message = format!("{} has commands that you did not agree to", self.project);
        Problem::new(Code::Untrusted, message).hint("`fleet trust` in the repository shows them, and asks")
    }

    /// A number for project and commands. Every part has its length in front, so that nothing can be moved from one
    /// part to the next. Where a setting stands in the file does not count.
    fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(text);
        };
        part("codefleet trust 1");
        part(&self.project);
        for setting in &self.commands {
            part(&setting.key);
            let commands = setting.value.texts();
            part(&commands.len().to_string());
            for command in commands {
                part(command);
            }
        }
        let mut shown = String::from("sha256:");
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{byte:02x}");
        }
        shown
    }
}

/// The commands of the project that the user did not agree to; nothing when all that this configuration would run may
/// run.
///
/// Whoever runs them takes them from the same [`Config`]: a file that is read again may say something else.
pub fn untrusted(home: &Path, config: &Config, project: &str) -> Outcome<Option<ProjectCommands>> {
    let asked = ProjectCommands::of(config, project);
    Ok(if asked.is_trusted(home)? { None } else { Some(asked) })
}

/// What the user agreed to.
#[derive(Debug, Clone)]
pub struct Trust {
    path: PathBuf,
}

/// Consent to some commands of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// The project: its git common dir.
    pub project: String,
    /// Which commands.
    pub hash: String,
    /// When it was given.
    pub at: Millis,
}

#[derive(Debug, Serialize, Deserialize)]
struct Ledger {
    version: u32,
    /// The oldest first.
    trusted: Vec<Consent>,
}

impl Trust {
    /// In this `$FLEET_HOME`.
    pub fn new(home: &Path) -> Self {
        Self { path: home.join("trust.json") }
    }

    /// Whether the user agreed to exactly these.
    pub fn covers(&self, asked: &ProjectCommands) -> Outcome<bool> {
        let hash = asked.fingerprint();
        Ok(self.list()?.iter().any(|consent| consent.project == asked.project && consent.hash == hash))
    }

    /// Everything that was agreed to, the oldest first.
    pub fn list(&self) -> Outcome<Vec<Consent>> {
        Ok(self.read()?.trusted)
    }

    /// Keeps that the user agreed to these; tells whether that is new. Earlier consent stays: work goes on on branches
    /// that have the commands of yesterday.
    pub fn grant(&self, asked: &ProjectCommands, at: Millis) -> Outcome<bool> {
        let (project, hash) = (asked.project.clone(), asked.fingerprint());
        self.change(|trusted| {
            if trusted.iter().any(|consent| consent.project == project && consent.hash == hash) {
                return false;
            }
            trusted.push(Consent { project, hash, at });
            trusted.drain(..trusted.len().saturating_sub(MOST));
            true
        })
    }

    /// Takes back all consent to commands of this project; tells whether there was any.
    pub fn revoke(&self, project: &str) -> Outcome<bool> {
        self.change(|trusted| {
            let before = trusted.len();
            trusted.retain(|consent| consent.project != project);
            trusted.len() < before
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Consent>) -> bool) -> Outcome<bool> {
        let unwritable =
            |error| Problem::new(Code::Io, format!("{}: cannot be written: {error}", self.path.display()));
        let exclusive = Exclusive::acquire(&self.path).map_err(unwritable)?;
        let mut ledger = self.read()?;
        let changed = change(&mut ledger.trusted);
        if changed {
            let text = serde_json::to_string_pretty(&ledger)
                .map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
            exclusive.replace(&format!("{text}\n")).map_err(unwritable)?;
        }
        Ok(changed)
    }

    /// A file that cannot be understood is a problem, never no consent: the next grant would throw the rest away.
    fn read(&self) -> Outcome<Ledger> {
        let mut text = String::new();
        match File::open(&self.path).and_then(|file| file.take(LIMIT).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Ledger { version: VERSION, trusted: Vec::new() });
            }
            Err(error) => return Err(self.broken(&format!("cannot be read: {error}"))),
        }
        match serde_json::from_str::<Ledger>(&text) {
            Ok(ledger) if ledger.version == VERSION => Ok(ledger),
            Ok(_) => Err(self.broken("was written by a newer codefleet")),
            Err(error) => Err(self.broken(&format!("is damaged: {error}"))),
        }
    }

    fn broken(&self, what: &str) -> Problem {
        Problem::new(Code::ConfigInvalid, format!("{}: {what}", self.path.display()))
            .hint("remove the file, then agree again with `fleet trust` where you need it")
    }
}

#[cfg(test)]
mod tests;
