//! Whether what came with a repository may be run, and be followed.
//!
//! Owns what the user agreed to, in `$FLEET_HOME/trust.json`. Consent is to exact settings and to files with exactly this
//! content, in one project: others, or the same ones in another clone, are asked about again. Must never run anything, and
//! never ask a person.

mod files;
mod task;

use std::collections::{BTreeMap, HashSet};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use fleet_api::verbs::trust_show::{WishedFile, WishesView};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::Project;
use fleet_core::text::escaped;
use fleet_core::time::Millis;
use fleet_core::workflow::Spec;
use fleet_host::plain;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::atomic_file::AtomicFile;
use crate::config::{Config, ConfigValue, Origin, Setting};
use crate::keeper::checkout;
use crate::problems;

pub(crate) use files::{TEMPLATES, below};
pub(crate) use task::take_agent;

pub(crate) use files::ProjectFile;

/// Far more than a user agrees to; the oldest go first, and are asked about again.
const MAX_CONSENTS: usize = 10_000;

/// What prepares a workspace, and a task can do without.
const OF_SETUP: &[&str] = &["workspaces.setup"];

/// Enough for that many of the longest paths, and short enough to read.
const LIMIT: u64 = 16 * 1024 * 1024;

/// At most this many files are named in a message.
const NAMED_FILES: usize = 3;

const VERSION: u32 = 1;

/// What a repository requests, and only the user can approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectWishes {
    /// The project: its git common dir.
    pub(crate) project: String,
    /// Settings: commands, copies of files, another agent, higher limits; each with its place in the project's file.
    pub(crate) commands: Vec<Setting>,
    /// Files that agents act on, and templates of prompts.
    pub(crate) files: Vec<ProjectFile>,
}

impl ProjectWishes {
    /// What the configuration in force takes from the project's file.
    pub(crate) fn of(config: &Config, project: impl Into<String>) -> Self {
        Self { project: project.into(), commands: config.wishes_of_project(), files: Vec::new() }
    }

    pub(crate) fn of_files(project: impl Into<String>, files: Vec<ProjectFile>) -> Self {
        Self { project: project.into(), commands: Vec::new(), files }
    }

    #[must_use]
    pub(crate) fn with_files(mut self, files: Vec<ProjectFile>) -> Self {
        self.files.extend(files);
        self
    }

    #[must_use]
    pub(crate) fn without_setup(mut self) -> Self {
        self.commands.retain(|setting| !OF_SETUP.contains(&setting.key.as_str()));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.files.is_empty()
    }

    /// What a workflow of the project wants to run: its checks, and what its agents are started with. Each is shown as
    /// the list of its words, because only we split it.
    pub(crate) fn of_workflow(project: impl Into<String>, file: &Path, spec: &Spec) -> Self {
        let words = |words: &Vec<String>| serde_json::json!(words).to_string();
        let mut commands = Vec::new();
        for stage in &spec.stages {
            let mut list = |what: &str, items: Vec<String>| {
                if !items.is_empty() {
                    let origin = Origin::Project { path: file.display().to_string(), line: 1 };
                    let key = format!("stages.{}.{what}", stage.name);
                    commands.push(Setting { key, value: ConfigValue::List(items), origin });
                }
            };
            list("checks", stage.checks.iter().map(words).collect());
            list("extra_args", stage.extra_args.clone());
        }
        Self { project: project.into(), commands, files: Vec::new() }
    }

    pub(crate) fn view(&self) -> WishesView {
        let file = |ProjectFile { path, sha256 }: &ProjectFile| WishedFile {
            path: path.clone(),
            sha256: sha256.clone(),
        };
        WishesView {
            project: self.project.clone(),
            commands: self.commands.iter().map(Setting::view).collect(),
            files: self.files.iter().map(file).collect(),
        }
    }

    /// Only what was shown: the same settings with the same values, the same files with the same content.
    #[must_use]
    pub(crate) fn among(mut self, shown: &WishesView) -> Self {
        let is_shown = |setting: &Setting| {
            let own = setting.view();
            shown.commands.iter().any(|known| known.key == own.key && known.value == own.value)
        };
        self.commands.retain(is_shown);
        let is_seen =
            |file: &ProjectFile, known: &WishedFile| known.path == file.path && known.sha256 == file.sha256;
        self.files.retain(|file| shown.files.iter().any(|known| is_seen(file, known)));
        self
    }

    /// With the lines on which they stand, by their keys.
    #[must_use]
    pub(crate) fn on_lines(mut self, lines: &BTreeMap<String, usize>) -> Self {
        for Setting { key, origin, .. } in &mut self.commands {
            if let (Origin::Project { line, .. }, Some(known)) = (origin, lines.get(key)) {
                *line = *known;
            }
        }
        self
    }

    pub(crate) fn is_trusted(&self, home: &Path) -> Outcome<bool> {
        ConsentStore::new(home).covers(self)
    }

    /// The problem of a run that needs them.
    pub(crate) fn refusal(&self) -> Problem {
        let message = format!("{} requests {}, which you have not approved", self.project, self.names());
        Problem::new(Code::Untrusted, message).hint("`fleet trust` in the repository shows it, and asks")
    }

    /// What it is about: every setting, because a command must not hide behind others, and some of the files.
    pub(crate) fn names(&self) -> String {
        let settings = self.commands.iter().map(|setting| &setting.key);
        let files = self.files.iter().map(|file| &file.path).take(NAMED_FILES);
        let names = settings.chain(files).map(|name| format!("`{}`", escaped(name)));
        let names = names.collect::<Vec<_>>().join(", ");
        match self.files.len().saturating_sub(NAMED_FILES) {
            0 => names,
            1 => format!("{names} and 1 more file"),
            more => format!("{names} and {more} more files"),
        }
    }

    /// The keys of its settings, and the paths of its files.
    pub(crate) fn keys_and_paths(&self) -> Vec<String> {
        let settings = self.commands.iter().map(|setting| setting.key.clone());
        settings.chain(self.files.iter().map(|file| file.path.clone())).collect()
    }

    /// A number for the project and all settings at once, as earlier versions kept it.
    fn fingerprint(&self) -> String {
        self.fingerprint_of(&self.commands)
    }

    /// A number for the project and these settings. Where a setting is in the file does not count.
    fn fingerprint_of(&self, settings: &[Setting]) -> String {
        let mut parts = vec!["codefleet trust 1".to_owned(), self.project.clone()];
        for Setting { key, value, .. } in settings {
            let texts = match value {
                ConfigValue::List(_) | ConfigValue::String(_) => value.texts().to_vec(),
                other => vec![other.to_string()],
            };
            parts.extend([key.clone(), texts.len().to_string()]);
            parts.extend(texts);
        }
        fingerprint(&parts)
    }

    /// A number for the project and one setting. Each is agreed to by itself, because a task may do without some.
    fn hash_of_setting(&self, setting: &Setting) -> String {
        self.fingerprint_of(std::slice::from_ref(setting))
    }

    /// A number for the project and a file; nothing if it cannot be agreed to.
    fn hash_of_file(&self, file: &ProjectFile) -> Option<String> {
        let content = file.sha256.as_deref()?;
        Some(fingerprint(&["codefleet trust file 1", &self.project, &file.path, content]))
    }

    /// What is remembered of consent to all of it.
    fn consents(&self, at: Millis) -> impl Iterator<Item = Consent> {
        let consent = move |hash| Consent::new(self.project.clone(), hash, at);
        let setting = move |setting: &Setting| Consent {
            setting: Some(setting.key.clone()),
            ..consent(self.hash_of_setting(setting))
        };
        let file = move |file: &ProjectFile| {
            let new = consent(self.hash_of_file(file)?);
            Some(Consent { file: Some(file.path.clone()), content: file.sha256.clone(), ..new })
        };
        self.commands.iter().map(setting).chain(self.files.iter().filter_map(file))
    }
}

/// A number for some texts. Each has its length in front, so that nothing can be moved from one to the next.
fn fingerprint(parts: &[impl AsRef<str>]) -> String {
    let mut hash = Sha256::new();
    for text in parts.iter().map(AsRef::as_ref) {
        hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(text);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |text, byte| format!("{text}{byte:02x}"))
}

/// What the file and the templates of the project want, and the user did not agree to; nothing when all that this
/// configuration would do may be done.
///
/// The code that acts on it takes it from the same [`Config`]: a file that is read again may say something else.
pub(crate) fn untrusted(home: &Path, config: &Config, project: &Project) -> Outcome<Option<ProjectWishes>> {
    let checkout = checkout(project);
    let templates = below(&checkout, TEMPLATES).map_err(problems::at(&checkout))?;
    let asked = ProjectWishes::of(config, &project.common_dir).with_files(templates);
    let asked = ConsentStore::new(home).uncovered(&asked)?;
    Ok(Some(asked).filter(|asked| !asked.is_empty()))
}

#[derive(Debug, Clone)]
pub(crate) struct ConsentStore {
    path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub(crate) project: String,
    pub(crate) hash: String,
    /// The key of the setting, if it is one. Earlier versions did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) setting: Option<String>,
    /// The file, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// A SHA-256 of what is in the file. Earlier versions did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    pub(crate) at: Millis,
}

impl Consent {
    fn new(project: String, hash: String, at: Millis) -> Self {
        Self { project, hash, setting: None, file: None, content: None, at }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct ConsentFile {
    version: u32,
    trusted: Vec<Consent>,
}

impl ConsentStore {
    pub(crate) fn new(home: &Path) -> Self {
        Self { path: home.join("trust.json") }
    }

    pub(crate) fn covers(&self, asked: &ProjectWishes) -> Outcome<bool> {
        Ok(self.uncovered(asked)?.is_empty())
    }

    /// What the user has not approved.
    pub(crate) fn uncovered(&self, asked: &ProjectWishes) -> Outcome<ProjectWishes> {
        if asked.is_empty() {
            return Ok(asked.clone());
        }
        let of_project = self.list()?.into_iter().filter(|consent| consent.project == asked.project);
        let given: HashSet<String> = of_project.map(|consent| consent.hash).collect();
        let is_whole = given.contains(&asked.fingerprint());
        let lacks_setting = |set: &&Setting| !is_whole && !given.contains(&asked.hash_of_setting(set));
        let lacks_file =
            |file: &&ProjectFile| !asked.hash_of_file(file).is_some_and(|hash| given.contains(&hash));
        Ok(ProjectWishes {
            project: asked.project.clone(),
            commands: asked.commands.iter().filter(lacks_setting).cloned().collect(),
            files: asked.files.iter().filter(lacks_file).cloned().collect(),
        })
    }

    /// Everything that was agreed to, the oldest first.
    pub(crate) fn list(&self) -> Outcome<Vec<Consent>> {
        Ok(self.read()?.trusted)
    }

    /// Keeps that the user agreed to these; tells whether that is new. Earlier consent stays: work goes on on branches
    /// that have the commands of yesterday.
    pub(crate) fn grant(&self, asked: &ProjectWishes, at: Millis) -> Outcome<bool> {
        self.change(|trusted| {
            let before = trusted.len();
            for new in asked.consents(at) {
                let is_it = |known: &Consent| known.project == new.project && known.hash == new.hash;
                if !trusted.iter().any(is_it) {
                    trusted.push(new);
                }
            }
            let is_new = trusted.len() > before;
            trusted.drain(..trusted.len().saturating_sub(MAX_CONSENTS));
            is_new
        })
    }

    /// Takes back all consent for this project; tells whether there was any.
    pub(crate) fn revoke(&self, project: &str) -> Outcome<bool> {
        self.change(|trusted| {
            let before = trusted.len();
            trusted.retain(|consent| consent.project != project);
            trusted.len() < before
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Consent>) -> bool) -> Outcome<bool> {
        let unwritable =
            |error| Problem::new(Code::Io, format!("{}: cannot be written: {error}", self.path.display()));
        let exclusive = AtomicFile::acquire(&self.path).map_err(unwritable)?;
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
    fn read(&self) -> Outcome<ConsentFile> {
        let mut text = String::new();
        match plain::open(&self.path).and_then(|file| file.take(LIMIT).read_to_string(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(ConsentFile { version: VERSION, trusted: Vec::new() });
            }
            Err(error) => return Err(self.broken(&format!("cannot be read: {error}"))),
        }
        match serde_json::from_str::<ConsentFile>(&text) {
            Ok(ledger) if ledger.version == VERSION => Ok(ledger),
            Ok(_) => Err(self.broken("was written by a newer codefleet")),
            Err(error) => Err(self.broken(&format!("is damaged: {error}"))),
        }
    }

    fn broken(&self, what: &str) -> Problem {
        Problem::new(Code::ConfigInvalid, format!("{}: {what}", self.path.display()))
            .hint("remove the file, then approve again with `fleet trust` where you need it")
    }
}

#[cfg(test)]
mod tests;
