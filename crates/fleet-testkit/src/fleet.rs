//! Running the built binary as a user would, but with nothing of the user's: own home, own state, own
//! environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::{env, fs, thread};

use serde_json::Value;
use tempfile::TempDir;

use crate::vault::Vault;

/// Names another binary for long tests: the one of the release profile, say.
pub const BINARY_VARIABLE: &str = "FLEET_TEST_BINARY";

/// The binary that was built for the tests, unless another one is named.
pub fn binary(built: &str) -> PathBuf {
    env::var_os(BINARY_VARIABLE).map_or_else(|| built.into(), PathBuf::from)
}

/// A binary, and the surroundings in which it is run.
///
/// The methods that change the surroundings return a changed copy, so `fleet.stdin("…").ok(&["…"])` leaves
/// `fleet` as it was. Copies share the directories, which are removed with the last of them.
#[derive(Debug, Clone)]
pub struct Fleet {
    exe: PathBuf,
    place: Arc<Place>,
    cwd: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    stdin: Vec<u8>,
}

#[derive(Debug)]
struct Place {
    user_home: PathBuf,
    fleet_home: PathBuf,
    _dir: TempDir,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit status; 128 + the signal's number when a signal ended it, as a shell says it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Fleet {
    /// For integration tests: `Fleet::new(env!("CARGO_BIN_EXE_fleet"))`.
    pub fn new(exe: impl Into<PathBuf>) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let make = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).expect("a directory for the binary under test");
            path
        };
        let place = Arc::new(Place { user_home: make("user"), fleet_home: make("fleet"), _dir: dir });
        let environment = surroundings(&place);
        Self { exe: exe.into(), cwd: place.user_home.clone(), place, environment, stdin: Vec::new() }
    }

    /// `$FLEET_HOME` of the commands: an existing directory, empty at first.
    pub fn home(&self) -> &Path {
        &self.place.fleet_home
    }

    /// What there is of the one repository in that home.
    #[track_caller]
    pub fn vault(&self) -> Vault {
        Vault::of(self.home()).expect("a vault, because something ran here")
    }

    /// `$HOME` of the commands, which is also where they run unless [`Fleet::cwd`] says otherwise.
    pub fn user_home(&self) -> &Path {
        &self.place.user_home
    }

    /// The same, run in another directory.
    #[must_use]
    pub fn cwd(&self, path: impl Into<PathBuf>) -> Self {
        Self { cwd: path.into(), ..self.clone() }
    }

    /// The same, with another program in the place of the binary.
    #[must_use]
    pub fn with_program(&self, program: impl Into<PathBuf>) -> Self {
        Self { exe: program.into(), ..self.clone() }
    }

    /// The same, with one more environment variable.
    #[must_use]
    pub fn env(&self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let mut changed = self.clone();
        changed.environment.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        changed
    }

    /// The same, with something to read on standard input, which is empty otherwise.
    #[must_use]
    pub fn stdin(&self, bytes: impl Into<Vec<u8>>) -> Self {
        Self { stdin: bytes.into(), ..self.clone() }
    }

    /// The command itself, for tests that spawn and kill. Its standard streams are not set.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.exe);
        command.args(args).current_dir(&self.cwd).env_clear().envs(&self.environment);
        command
    }

    /// Runs to the end, whatever the outcome.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child =
            command.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", self.exe.display()));
        let output = feed(child, &self.stdin);
        let text = |bytes| String::from_utf8(bytes).expect("the command printed UTF-8");
        Output { code: code(output.status), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs, demands success, returns standard output.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        self.expect_code(0, args).stdout
    }

    /// Runs with `--json`, demands success, returns what standard output says.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let stdout = self.ok(&with_json(args));
        serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{args:?} printed no JSON: {error}\n{stdout}"))
    }

    /// Runs and demands this exit status.
    #[track_caller]
    pub fn fail(&self, code: i32, args: &[&str]) -> Output {
        assert_ne!(code, 0, "a failure has an exit status other than 0");
        self.expect_code(code, args)
    }

    #[track_caller]
    fn expect_code(&self, code: i32, args: &[&str]) -> Output {
        let output = self.run(args);
        let Output { code: actual, stdout, stderr } = &output;
        assert_eq!(*actual, code, "exit status of {args:?}\nstdout:\n{stdout}\nstderr:\n{stderr}");
        output
    }
}

/// All of the environment that a command gets. Only `PATH` is the developer's, because git must be found.
fn surroundings(place: &Place) -> BTreeMap<OsString, OsString> {
    let fixed = [
        ("HOME", place.user_home.as_os_str()),
        ("FLEET_HOME", place.fleet_home.as_os_str()),
        ("TERM", OsStr::new("dumb")),
        ("LC_ALL", OsStr::new("C.UTF-8")),
        ("TZ", OsStr::new("UTC")),
        // A runner in the background belongs only into tests of it.
        ("FLEET_AUTOSTART", OsStr::new("false")),
        // `HOME` hides the user's git configuration; this hides the machine's.
        ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
    ];
    let path = env::var_os("PATH").map(|path| (OsString::from("PATH"), path));
    fixed.into_iter().map(|(name, value)| (name.into(), value.to_owned())).chain(path).collect()
}

/// Writes the input from its own thread: a command that prints much before it has read all would block
/// for ever.
fn feed(mut child: Child, input: &[u8]) -> std::process::Output {
    let pipe = child.stdin.take();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A command that ends without having read its input breaks the pipe; that is its good right.
            let _ = pipe.map(|mut pipe| pipe.write_all(input));
        });
        child.wait_with_output().expect("the command can be waited for")
    })
}

fn code(status: std::process::ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// `--json` goes last, but before a `--`, behind which everything belongs to somebody else.
fn with_json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let end = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let (own, others) = args.split_at(end);
    [own, &["--json"], others].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh() -> Fleet {
        Fleet::new("/bin/sh")
    }

    #[test]
    fn the_environment_is_ours_alone() {
        let fleet = sh().env("EXTRA", "1");
        let all = Fleet { exe: "env".into(), ..fleet.clone() }.ok(&[]);
        let mut names: Vec<_> =
            all.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "EXTRA",
                "FLEET_AUTOSTART",
                "FLEET_HOME",
                "GIT_CONFIG_NOSYSTEM",
                "HOME",
                "LC_ALL",
                "PATH",
                "TERM",
                "TZ"
            ]
        );
        assert_eq!(fleet.ok(&["-c", "printf %s \"$FLEET_HOME\""]), fleet.home().to_str().unwrap());
    }

    #[test]
    fn runs_in_the_given_directory() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        assert_eq!(sh().cwd(&real).ok(&["-c", "pwd"]).trim_end(), real.to_str().unwrap());
    }

    #[test]
    fn much_input_and_much_output_do_not_block() {
        let input = "x".repeat(1 << 20);
        let cat = Fleet { exe: "cat".into(), ..sh() };
        assert_eq!(cat.stdin(input.clone()).ok(&[]).len(), input.len());
        assert_eq!(cat.ok(&[]), "", "the original still has no input");
    }

    #[test]
    fn failures_carry_what_was_said() {
        let output = sh().fail(3, &["-c", "echo out; echo err >&2; exit 3"]);
        assert_eq!(output, Output { code: 3, stdout: "out\n".into(), stderr: "err\n".into() });
        assert_eq!(sh().run(&["-c", "kill -9 $$"]).code, 137);
    }

    #[test]
    #[should_panic(expected = "because of this")]
    fn an_unexpected_failure_shows_its_stderr() {
        sh().ok(&["-c", "echo because of this >&2; exit 1"]);
    }

    #[test]
    fn json_stays_before_a_double_dash() {
        assert_eq!(with_json(&["task", "list"]), ["task", "list", "--json"]);
        assert_eq!(with_json(&["run", "--", "sh"]), ["run", "--json", "--", "sh"]);
        assert_eq!(sh().json(&["-c", "echo '{\"a\": 1}'"])["a"], 1);
    }

    #[test]
    fn directories_go_with_the_last_copy() {
        let first = sh();
        let copy = first.env("A", "1");
        let home = first.home().to_owned();
        drop(first);
        assert!(home.is_dir());
        drop(copy);
        assert!(!home.exists());
    }
}
