//! Putting the layers on top of each other.
//!
//! Owns which layers there are and that the later one wins. Must never fail on what a later version may have named: an
//! unknown variable is a warning.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fleet_api::verbs::config_validate::Answer as Report;
use fleet_core::problem::{Code, Outcome, Problem};

use super::earlier;
use super::file::{self, ConfigContent, ConfigEntry};
use super::key::{Key, KeyKind, KeyScope};
use super::names::{self, Variable};
use super::read::SettingsByKey;
use super::resolved::Config;
use super::setting::{ConfigFile, Origin, Setting};
use super::value::ConfigValue;
use super::{keys, messages};
use crate::environment::{Environment, PREFIX};

pub struct Sources<'a> {
    /// `$FLEET_HOME/config.toml`. It need not exist.
    pub user_file: PathBuf,
    /// `.fleet/config.toml` of the work tree, when there is one. It need not exist.
    pub project_file: Option<PathBuf>,
    pub environment: &'a Environment,
    /// What was given with `--config`, in order.
    pub flags: &'a [String],
}

impl Config {
    /// Reads every layer. Fails with the first problem, and says how many there are.
    pub fn load(sources: &Sources<'_>) -> Outcome<Self> {
        let Layers { settings, overridden, problems, .. } = Layers::read(sources);
        let count = problems.len();
        match problems.into_iter().next() {
            None => Self::resolve(settings, overridden),
            Some(only) if count == 1 => Err(only),
            Some(first) => Err(first.hint(format!("`fleet config validate` lists all {count} problems"))),
        }
    }

    /// Reads every layer, and tells everything that is wrong.
    pub fn validate(sources: &Sources<'_>) -> Report {
        let Layers { problems, warnings, files, .. } = Layers::read(sources);
        let files = files.iter().map(|path| path.display().to_string()).collect();
        Report { problems, warnings, files }
    }
}

#[derive(Default)]
struct Layers {
    settings: SettingsByKey,
    /// What the layers below the project's file say about its keys.
    overridden: BTreeMap<String, ConfigValue>,
    problems: Vec<Problem>,
    warnings: Vec<String>,
    files: Vec<PathBuf>,
}

impl Layers {
    fn read(sources: &Sources<'_>) -> Self {
        let mut layers = Self::default();
        layers.defaults();
        layers.file(&ConfigFile::User(sources.user_file.clone()));
        if let Some(path) = &sources.project_file {
            // If the home folder is a repository, one file is both, and it counts as the user's.
            if !is_same_file(path, &sources.user_file) {
                layers.file(&ConfigFile::Project(path.clone()));
            }
        }
        layers.earlier_variables(sources.environment);
        layers.variables(sources.environment);
        for given in sources.flags {
            layers.flag(given);
        }
        layers.problems.extend(ports_problem(&layers.settings));
        layers
    }

    fn defaults(&mut self) {
        for key in keys::all() {
            if let Some(text) = key.default {
                self.text(key, key.name.to_owned(), text, Origin::Default);
            }
        }
    }

    fn file(&mut self, file: &ConfigFile) {
        let content = match file::read(file.path()).transpose() {
            None => return,
            Some(Ok(text)) => file::parse(file, &text),
            Some(Err(problem)) => ConfigContent { entries: Vec::new(), problems: vec![problem] },
        };
        self.files.push(file.path().to_owned());
        self.problems.extend(content.problems);
        for entry in content.entries {
            let origin = file.origin(entry.line);
            if let Some(warning) = self.refused_to(&entry, &origin) {
                self.warnings.push(warning);
                continue;
            }
            if let (Origin::Project { .. }, Some(own)) = (&origin, self.settings.get(&entry.name)) {
                self.overridden.insert(entry.name.clone(), own.value.clone());
            }
            self.put(entry.name, entry.value, origin);
        }
    }

    /// What a project wants to allow beyond what the user does. It stays as it is, and is no reason to stop: the same
    /// file is right for a user who allows more.
    fn refused_to(&self, entry: &ConfigEntry, origin: &Origin) -> Option<String> {
        let Origin::Project { .. } = origin else { return None };
        let key = names::find(&entry.name).ok()?;
        let (KeyScope::Lowering(usual), KeyKind::OneOf(words)) = (key.scope, key.kind) else { return None };
        let now = match self.settings.get(&entry.name).map(|setting| &setting.value) {
            Some(ConfigValue::String(word)) => word.as_str(),
            _ => usual,
        };
        let place = |word: &str| words.iter().position(|known| *known == word);
        let raises = matches!(&entry.value, ConfigValue::String(wanted) if place(wanted) > place(now));
        raises.then(|| format!("{origin}: a project can only lower `{}`, which stays `{now}`", entry.name))
    }

    /// Below our own variables: a user who sets one of those as well means that.
    fn earlier_variables(&mut self, environment: &Environment) {
        for variable in environment.fleet_variables() {
            let suffix = variable.strip_prefix(PREFIX).unwrap_or(variable);
            let read = match environment.get(variable) {
                Ok(text) => earlier::read(suffix, text.unwrap_or_default()),
                // The reader of all of them reports it.
                Err(_) => None,
            };
            let origin = Origin::Environment { variable: variable.to_owned() };
            match read {
                None => {}
                Some(Ok(settings)) => {
                    for (key, value) in settings {
                        self.put(key.to_owned(), value, origin.clone());
                    }
                }
                Some(Err(problem)) => self.problems.push(problem.at(&origin)),
            }
        }
    }

    fn variables(&mut self, environment: &Environment) {
        for variable in environment.fleet_variables() {
            match names::variable(variable.strip_prefix(PREFIX).unwrap_or(variable)) {
                Variable::Earlier => self.problems.extend(environment.get(variable).err()),
                Variable::NotConfiguration => {}
                Variable::Unknown(meant) => self.warnings.push(unknown_variable(variable, meant)),
                Variable::Sets(key, name) => match environment.get(variable) {
                    Ok(None) => {}
                    Ok(Some(text)) => {
                        self.text(key, name, text, Origin::Environment { variable: variable.to_owned() });
                    }
                    Err(problem) => self.problems.push(problem),
                },
            }
        }
    }

    fn flag(&mut self, given: &str) {
        let Some((name, text)) = given.split_once('=') else {
            return self.problems.push(messages::flag(given).at(&Origin::Flag));
        };
        match names::find(name.trim()) {
            Ok(key) => self.text(key, name.trim().to_owned(), text, Origin::Flag),
            Err(problem) => self.problems.push(problem.at(&Origin::Flag)),
        }
    }

    fn text(&mut self, key: &Key, name: String, text: &str, origin: Origin) {
        match ConfigValue::of(key, &name, text) {
            Ok(value) => self.put(name, value, origin),
            Err(problem) => self.problems.push(problem.at(&origin)),
        }
    }

    fn put(&mut self, key: String, value: ConfigValue, origin: Origin) {
        self.settings.insert(key.clone(), Setting { key, value, origin });
    }
}

/// At least one block of ports has to fit.
fn ports_problem(settings: &SettingsByKey) -> Option<Problem> {
    let number = |name| match settings.get(name).map(|setting| &setting.value) {
        Some(ConfigValue::Integer(number)) => Some(*number),
        _ => None,
    };
    let (first, last, block) = (number("ports.first")?, number("ports.last")?, number("ports.block")?);
    if first + block - 1 <= last {
        return None;
    }
    let message =
        format!("no block of {block} ports fits from `ports.first` ({first}) to `ports.last` ({last})");
    let problem =
        Problem::new(Code::ConfigInvalid, message).hint("raise `ports.last`, or lower one of the others");
    // The first one that was set is reported: the defaults go together.
    let names = ["ports.last", "ports.first", "ports.block"];
    let mut origins = names.iter().filter_map(|name| Some(&settings.get(*name)?.origin));
    Some(match origins.find(|origin| **origin != Origin::Default) {
        Some(origin) => problem.at(origin),
        None => problem,
    })
}

fn unknown_variable(variable: &str, meant: Option<String>) -> String {
    let shown = messages::quoted(variable);
    match meant {
        Some(meant) => format!("{shown} is not a setting; did you mean `{PREFIX}{meant}`?"),
        None => format!("{shown} is not a setting"),
    }
}

fn is_same_file(left: &Path, right: &Path) -> bool {
    let identity = |path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    left == right || identity(left).is_some_and(|left| identity(right) == Some(left))
}
