//! What the process was given: its variables and its current directory, read once.
//!
//! Owns the only calls to `std::env` in codefleet; everything else takes an [`Environment`], so that a test can
//! hand in its own. Must never write the process's environment, and never show a value: variables hold secrets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fleet_core::problem::{Code, Outcome, Problem};

pub const PREFIX: &str = "FLEET_";

/// What was given with `--config` to the process that started this one: a list in JSON. In a variable, because every
/// user of the machine can read arguments, and a setting may hold a password.
pub(crate) const SETTINGS: &str = "FLEET_SETTINGS";

/// Whether a shell can name a variable so: `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_variable_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What points git at one repository: all that `git rev-parse --local-env-vars` tells, and two that hooks see.
const OF_ONE_REPOSITORY: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Whether only codefleet may set this variable for an agent: its own, and those that would lead the agent's git out of
/// its workspace.
pub fn is_reserved(variable: &str) -> bool {
    variable.starts_with(PREFIX) || OF_ONE_REPOSITORY.contains(&variable)
}

/// The variables and the current directory, as they were when the process started.
///
/// A variable with an empty value counts as unset: many tools can remove one only in this way.
#[derive(Clone)]
pub struct Environment {
    /// By name; a name that is not UTF-8 is kept with replacement characters, because no caller can ask for it.
    variables: BTreeMap<String, OsString>,
    /// Missing if it was deleted, which matters only to callers that need it.
    current_directory: Option<PathBuf>,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub fn from_process() -> Self {
        Self { current_directory: std::env::current_dir().ok(), ..Self::from_pairs(std::env::vars_os()) }
    }

    /// An environment of these variables and without a current directory.
    pub fn from_pairs<N: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let variables = pairs
            .into_iter()
            .map(|(name, value)| (name.into().to_string_lossy().into_owned(), value.into()))
            .collect();
        Self { variables, current_directory: None }
    }

    #[must_use]
    pub fn with_current_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.current_directory = Some(directory.into());
        self
    }

    /// The value of a variable; a problem when it is set but is not UTF-8.
    pub fn get(&self, name: &str) -> Outcome<Option<&str>> {
        let Some(value) = self.get_os(name) else { return Ok(None) };
        value
            .to_str()
            .map(Some)
            .ok_or_else(|| Problem::new(Code::ConfigInvalid, format!("{name}: the value is not UTF-8")))
    }

    /// The value of a variable as it is, for paths.
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// All variables as they are, in alphabetical order.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_os_str()))
    }

    /// All of it, for our own processes, with the settings of the command line. What says in which run we are stays here:
    /// a keeper that carried another run's name would end with that run.
    pub fn for_children(&self, settings: &[String]) -> Vec<(OsString, OsString)> {
        let left_out = ["FLEET_RUN", "FLEET_DOOR", "FLEET_TASK", "AI_FLEET_DEBUG", SETTINGS];
        let ours = self.variables.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
        let ours = ours.map(|(name, value)| (OsString::from(name), value.clone()));
        let settings = (!settings.is_empty()).then(|| serde_json::json!(settings).to_string());
        ours.chain(settings.map(|list| (SETTINGS.into(), list.into()))).collect()
    }

    /// The settings that the process above passed on, see [`Environment::for_children`].
    pub fn settings(&self) -> Outcome<Vec<String>> {
        let Some(list) = self.get(SETTINGS)? else { return Ok(Vec::new()) };
        serde_json::from_str(list).map_err(|_| {
            let message = format!("{SETTINGS}: must be a list of `KEY=VALUE` in JSON");
            Problem::new(Code::ConfigInvalid, message).hint("only codefleet sets this variable; unset it")
        })
    }

    /// The names of the `FLEET_*` variables that are set, in alphabetical order.
    pub fn fleet_variables(&self) -> impl Iterator<Item = &str> {
        self.variables
            .range(PREFIX.to_owned()..)
            .take_while(|(name, _)| name.starts_with(PREFIX))
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, _)| name.as_str())
    }

    pub fn this_binary() -> Outcome<PathBuf> {
        let found = std::env::current_exe();
        // While a new version is installed over the old one, Linux calls the old one deleted; the new one is there.
        let path = found.map(|path| match path.to_str().and_then(|text| text.strip_suffix(" (deleted)")) {
            Some(replaced) => PathBuf::from(replaced),
            None => path,
        });
        path.map_err(|error| Problem::new(Code::Io, format!("cannot find this program's own path: {error}")))
    }

    /// The program of that name on the `PATH`, or at that place when it is a path.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path));
        }
        // An empty entry is the current directory, where a repository could plant a program.
        let folders = std::env::split_paths(self.get_os("PATH")?).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(name)).find(is_program)
    }

    pub fn current_directory(&self) -> Outcome<&Path> {
        self.current_directory.as_deref().ok_or_else(|| {
            Problem::new(Code::Io, "the current directory no longer exists")
                .hint("change to another directory and try again")
        })
    }

    /// The folder that holds everything codefleet keeps: `$FLEET_HOME`, or `~/.fleet`. It need not exist. The Python
    /// `codefleet` called it `$FLEET_BASE_DIR`.
    pub fn home(&self) -> Outcome<PathBuf> {
        let given = self.get_os("FLEET_HOME").or_else(|| self.get_os("FLEET_BASE_DIR"));
        let given = given.map_or(Path::new("~/.fleet"), Path::new);
        let path = self.expanded(given)?;
        if path.is_relative() && self.get_os("FLEET_HOME").is_some() {
            let message = format!("FLEET_HOME is the relative path {:?}", given.display().to_string());
            return Err(Problem::new(Code::ConfigInvalid, message)
                .hint("set it to an absolute path: a relative one is another folder in every directory"));
        }
        self.absolute(&path)
    }

    /// A path in which `~` is the user's home folder.
    pub(crate) fn expanded(&self, path: &Path) -> Outcome<PathBuf> {
        match path.strip_prefix("~") {
            Ok(rest) => Ok(self.user_home()?.join(rest)),
            Err(_) => Ok(path.to_owned()),
        }
    }

    pub(crate) fn names_home(&self) -> bool {
        ["FLEET_HOME", "FLEET_BASE_DIR"].into_iter().any(|name| self.get_os(name).is_some())
    }

    pub fn user(&self) -> String {
        let name = |variable: &str| self.get(variable).ok().flatten();
        let user = ["USER", "LOGNAME"].into_iter().find_map(name).map(ToOwned::to_owned);
        user.or_else(fleet_host::user_name).unwrap_or_else(|| "unknown".to_owned())
    }

    pub fn user_home(&self) -> Outcome<&Path> {
        self.get_os("HOME").map(Path::new).ok_or_else(|| {
            Problem::new(Code::ConfigInvalid, "HOME is not set, so there is no home folder")
                .hint("set `FLEET_HOME` to the absolute path of a folder")
        })
    }

    /// Collecting the components drops `.` and doubled slashes; `..` stays, because it may cross a link.
    pub(crate) fn absolute(&self, path: &Path) -> Outcome<PathBuf> {
        if path.is_absolute() {
            return Ok(path.components().collect());
        }
        Ok(self.current_directory()?.join(path).components().collect())
    }
}

/// Names only: values may be secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("current_directory", &self.current_directory)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn home(pairs: &[(&str, &str)]) -> Outcome<PathBuf> {
        Environment::from_pairs(pairs.iter().copied()).with_current_directory("/work/here").home()
    }

    #[test]
    fn home_comes_from_fleet_home_or_from_home() {
        let user = ("HOME", "/home/ada");
        assert_eq!(home(&[user]).unwrap(), Path::new("/home/ada/.fleet"));
        assert_eq!(home(&[user, ("FLEET_HOME", "")]).unwrap(), Path::new("/home/ada/.fleet"));
        assert_eq!(home(&[user, ("FLEET_HOME", "/srv//fleet/")]).unwrap(), Path::new("/srv/fleet"));
        assert_eq!(home(&[("FLEET_HOME", "/srv/fleet")]).unwrap(), Path::new("/srv/fleet"));
        assert_eq!(home(&[user, ("FLEET_HOME", "~/x")]).unwrap(), Path::new("/home/ada/x"));
        assert_eq!(home(&[user, ("FLEET_HOME", "~")]).unwrap(), Path::new("/home/ada"));
        for relative in ["./state", "a/~/b"] {
            let problem = home(&[user, ("FLEET_HOME", relative)]).unwrap_err();
            assert!(problem.to_string().contains(relative) && !problem.hints.is_empty(), "{problem}");
        }
        let base = ("FLEET_BASE_DIR", "./state");
        assert_eq!(home(&[user, base]).unwrap(), Path::new("/work/here/state"), "as it was");
        let base = ("FLEET_BASE_DIR", "~/base");
        assert_eq!(home(&[user, base]).unwrap(), Path::new("/home/ada/base"));
        assert_eq!(home(&[user, base, ("FLEET_HOME", "/srv/fleet")]).unwrap(), Path::new("/srv/fleet"));
    }

    #[test]
    fn home_is_a_problem_without_anything_to_start_from() {
        for pairs in [&[][..], &[("HOME", "")], &[("FLEET_HOME", "~/x")]] {
            let problem = home(pairs).unwrap_err();
            assert_eq!(problem.code, Code::ConfigInvalid);
            assert_eq!(problem.to_string(), "HOME is not set, so there is no home folder");
        }
        let nowhere = Environment::from_pairs([("FLEET_BASE_DIR", "relative")]);
        assert_eq!(nowhere.home().unwrap_err().code, Code::Io);
    }

    #[test]
    fn people_are_known_by_their_names() {
        let who = |pairs: &[(&str, &str)]| Environment::from_pairs(pairs.iter().copied()).user();
        let (user, login) = (("USER", "ada"), ("LOGNAME", "lovelace"));
        assert_eq!(who(&[user, login]), "ada");
        assert_eq!(who(&[("USER", ""), login]), "lovelace");
        assert_eq!(who(&[]), fleet_host::user_name().unwrap_or_else(|| "unknown".to_owned()));
    }

    #[test]
    fn a_value_that_is_not_text_is_a_problem_only_when_asked_for() {
        let odd = OsString::from_vec(b"/tmp/\xff".to_vec());
        let environment = Environment::from_pairs([
            (OsString::from("FLEET_HOME"), odd.clone()),
            (OsString::from("FLEET_STORE"), OsString::from("sqlite")),
            (OsString::from_vec(b"FLEET_\xff".to_vec()), OsString::from("x")),
        ]);
        assert_eq!(environment.get("FLEET_STORE").unwrap(), Some("sqlite"));
        assert_eq!(environment.get("FLEET_NONE").unwrap(), None);
        assert_eq!(environment.home().unwrap(), Path::new(&odd));
        let problem = environment.get("FLEET_HOME").unwrap_err();
        assert_eq!(problem.to_string(), "FLEET_HOME: the value is not UTF-8");
    }

    #[test]
    fn fleet_variables_are_those_with_the_prefix_and_a_value() {
        let environment = Environment::from_pairs([
            ("FLEETING", "no"),
            ("FLEET_B", "1"),
            ("FLEET_A", "2"),
            ("FLEET_EMPTY", ""),
            ("PATH", "/bin"),
        ]);
        assert_eq!(environment.fleet_variables().collect::<Vec<_>>(), ["FLEET_A", "FLEET_B"]);
    }

    #[test]
    fn what_leads_git_elsewhere_is_reserved() {
        let names = fleet_testkit::repo::Repo::init().git(&["rev-parse", "--local-env-vars"]);
        assert!(names.lines().count() > 10, "{names}");
        for name in names.lines().chain(["FLEET_RUN", "FLEET_"]) {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["PATH", "GIT_AUTHOR_NAME", "GIT_CONFIG_GLOBAL", "FLEET"] {
            assert!(!is_reserved(name), "{name}");
        }
    }

    #[test]
    fn variables_have_names_that_shells_take() {
        for good in ["A", "_", "a1_B"] {
            assert!(is_variable_name(good), "{good}");
        }
        for bad in ["", "1A", "A-B", "A B", "A=B", "Ä", "BASH_FUNC_x%%", "A\u{fffd}"] {
            assert!(!is_variable_name(bad), "{bad}");
        }
    }

    #[test]
    fn debug_shows_no_value() {
        let environment = Environment::from_pairs([("FLEET_TOKEN", "hunter2")]);
        let shown = format!("{environment:?}");
        assert!(shown.contains("FLEET_TOKEN") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn the_process_has_variables_and_a_directory() {
        let environment = Environment::from_process();
        assert!(environment.get_os("PATH").is_some());
        assert!(environment.current_directory().unwrap().is_absolute());
    }

    #[test]
    fn settings_of_the_command_line_reach_our_own_processes_by_the_environment() {
        let run = Environment::from_pairs([("A", "1"), ("FLEET_RUN", "r1"), (SETTINGS, "[\"old=1\"]")]);
        assert_eq!(run.settings().unwrap(), ["old=1"]);
        let given = ["store=postgres://me:hunter2@host/db".to_owned(), "agent=x".to_owned()];
        let child = Environment::from_pairs(run.for_children(&given));
        assert_eq!(child.settings().unwrap(), given);
        assert_eq!(child.variables().map(|(name, _)| name).collect::<Vec<_>>(), ["A", SETTINGS]);
        let plain = Environment::from_pairs(child.for_children(&[]));
        assert!(plain.settings().unwrap().is_empty() && plain.get_os(SETTINGS).is_none());
        let broken = Environment::from_pairs([(SETTINGS, "store=x")]).settings().unwrap_err();
        assert_eq!(broken.code, Code::ConfigInvalid);
    }
}
