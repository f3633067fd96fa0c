//! Whether an agent is installed, and which version it is.
//!
//! Owns the question to the program and what is remembered of its answer: asking takes a second or more, and the answer
//! stays the same until the file is another one. Must never wait for long, and never fail because nothing can be
//! remembered.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_agents::{About, Program};
use fleet_core::text::shortened;
use fleet_host::process::{ProcessQuery, ask};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::Engine;
use crate::agent_env::{AgentEnv, agent_environment};
use crate::environment::Environment;
use crate::home::write_private;

/// How long a program may take to print its version. Some take seconds to start, and longer on a busy machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(15);
/// How much of a line that is not a version is shown.
const MAX_SHOWN: usize = 60;
/// More programs than a user has agents.
const MAX_REMEMBERED: usize = 100;

/// In place of the version of a program that is not asked for it.
const NOT_ASKED: &str = "unknown";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub path: PathBuf,
    /// Its version, or why it does not tell.
    pub version: Result<String, String>,
}

pub fn path(engine: &Engine, program: &Program) -> Option<PathBuf> {
    match program {
        Program::This => Environment::this_binary().ok(),
        Program::OnPath(name) => engine.environment().find_program(name),
    }
}

/// What is known of a version, or will be.
enum VersionState {
    Known(String),
    Asked(JoinHandle<Result<String, String>>),
}

/// Looks for all of these agents at once, and asks those that are there and were not asked before.
pub async fn look(engine: &Engine, agents: &[(String, About)]) -> Vec<Option<Installed>> {
    let known = Remembered::read(engine.home().root());
    let begin = |(name, about): &(String, About)| {
        let path = path(engine, &about.program)?;
        let told = match known.version(&path) {
            _ if about.program == Program::This => VersionState::Known(env!("CARGO_PKG_VERSION").to_owned()),
            // An agent from the configuration may do anything when it is started.
            _ if about.version_args.is_empty() => VersionState::Known(NOT_ASKED.to_owned()),
            Some(version) => VersionState::Known(version),
            None => {
                VersionState::Asked(tokio::task::spawn_blocking(asking(question(engine, name, about, &path))))
            }
        };
        Some((path, told))
    };
    let looks: Vec<_> = agents.iter().map(begin).collect();
    let mut found = Vec::with_capacity(looks.len());
    for look in looks {
        found.push(match look {
            None => None,
            Some((path, VersionState::Known(version))) => Some(Installed { path, version: Ok(version) }),
            Some((path, VersionState::Asked(answer))) => {
                let version = answer.await.unwrap_or_else(|error| Err(error.to_string()));
                Some(Installed { path, version })
            }
        });
    }
    known.with(&found).write(engine.home().root());
    found
}

/// Asked without the user's secrets: no version depends on them.
fn question(engine: &Engine, agent: &str, about: &About, program: &Path) -> ProcessQuery {
    let set = engine.config().map(|config| config.variables_for(agent).set).unwrap_or_default();
    let rules = AgentEnv { vendor: &[], pass: &[], adapter: &[], set: &set, run: &[] };
    let home = engine.home().root();
    ProcessQuery {
        program: program.to_owned(),
        args: about.version_args.iter().map(OsString::from).collect(),
        env: agent_environment(engine.environment(), &rules),
        cwd: if home.is_dir() { home.to_owned() } else { PathBuf::from("/") },
        patience: VERSION_TIMEOUT,
    }
}

fn asking(question: ProcessQuery) -> impl FnOnce() -> Result<String, String> + Send + 'static {
    move || ask(&question).map(|answer| version(&answer)).map_err(|error| error.to_string())
}

/// The first word that looks like a version, or the first line.
fn version(answer: &str) -> String {
    let mut words = answer.split_whitespace().map(|word| {
        let word = word.strip_prefix('v').unwrap_or(word);
        word.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ':' | ';'))
    });
    let is_version = |word: &&str| {
        let mut parts = word.splitn(3, '.');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.next().is_some_and(is_number) && parts.next().is_some_and(|part| part.starts_with(is_digit))
    };
    let line = answer.lines().next().unwrap_or_default().trim();
    shortened(words.find(is_version).unwrap_or(line), MAX_SHOWN).into_owned()
}

const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Answers of programs, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Remembered {
    programs: BTreeMap<PathBuf, Answer>,
}

/// What a program said while it was this file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    file: ProgramStamp,
    version: String,
}

/// What an update changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ProgramStamp {
    /// Where links lead: an update may only exchange a link.
    target: PathBuf,
    size: u64,
    changed_seconds: i64,
    changed_nanos: i64,
}

impl ProgramStamp {
    fn of(path: &Path) -> Option<Self> {
        let (target, file) = (fs::canonicalize(path).ok()?, fs::metadata(path).ok()?);
        Some(Self {
            target,
            size: file.size(),
            changed_seconds: file.mtime(),
            changed_nanos: file.mtime_nsec(),
        })
    }
}

impl Remembered {
    fn file(home: &Path) -> PathBuf {
        home.join("versions.json")
    }

    /// A file that cannot be read is as good as none.
    fn read(home: &Path) -> Self {
        let bytes = fs::read(Self::file(home)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn version(&self, path: &Path) -> Option<String> {
        let answer = self.programs.get(path)?;
        (ProgramStamp::of(path)? == answer.file).then(|| answer.version.clone())
    }

    fn with(&self, found: &[Option<Installed>]) -> Changed<'_> {
        let mut new = self.clone();
        for installed in found.iter().flatten() {
            let version = installed.version.as_ref().ok().filter(|version| *version != NOT_ASKED);
            if let (Some(version), Some(file)) = (version, ProgramStamp::of(&installed.path)) {
                new.programs.insert(installed.path.clone(), Answer { file, version: version.clone() });
            }
        }
        Changed { old: self, new }
    }
}

/// What is remembered now, beside what was.
struct Changed<'a> {
    old: &'a Remembered,
    new: Remembered,
}

impl Changed<'_> {
    /// Reading must not create a home.
    fn write(mut self, home: &Path) {
        if *self.old == self.new || !home.is_dir() {
            return;
        }
        if self.new.programs.len() > MAX_REMEMBERED {
            self.new.programs.clear();
        }
        if let Ok(bytes) = serde_json::to_vec(&self.new) {
            let _ = write_private(&Remembered::file(home), &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (answer, told) in [
            ("2.1.325 (Claude Code)", "2.1.325"),
            ("codex-cli 0.166.0", "0.166.0"),
            ("Warning: something\n0.61.0\n", "0.61.0"),
            ("tool v1.2.3-beta.1+7, built today", "1.2.3-beta.1+7"),
            ("tool version unknown\nand more", "tool version unknown"),
            ("", ""),
        ] {
            assert_eq!(version(answer), told, "{answer}");
        }
        assert!(version(&"x".repeat(500)).chars().count() <= MAX_SHOWN);
    }

    #[test]
    fn an_answer_holds_until_the_file_is_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("tool");
        fs::write(&program, "one").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let known = Remembered::default();
        assert_eq!(known.version(&program), None);
        let found = [Some(Installed { path: program.clone(), version: Ok("1".into()) }), None];
        known.with(&found).write(dir.path());
        assert_eq!(Remembered::read(dir.path()).version(&program).as_deref(), Some("1"));
        fs::write(&program, "two, and longer").unwrap();
        assert_eq!(Remembered::read(dir.path()).version(&program), None);
        fs::write(Remembered::file(dir.path()), "{ not JSON").unwrap();
        assert_eq!(Remembered::read(dir.path()), Remembered::default());
    }
}
