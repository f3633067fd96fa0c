//! What the tests here share: a repository with a queue, and texts without what differs from run to run.

use std::process::{Command, Stdio};

use fleet_testkit::clis::present_or_skip;
use fleet_testkit::fleet::{Fleet, Output};
use fleet_testkit::postgres::{self, Database};
use fleet_testkit::repo::Repo;
use serde_json::Value;

/// A home, a repository, and a store of one of the two engines.
pub(crate) struct World {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
    _database: Option<Database>,
}

impl World {
    pub(crate) fn sqlite() -> Self {
        let repo = Repo::init();
        Self { fleet: fleet().cwd(repo.path()), repo, _database: None }
    }

    pub(crate) fn postgres() -> Self {
        let (repo, database) = (Repo::init(), postgres::database());
        let fleet = fleet().cwd(repo.path()).env("FLEET_STORE", database.url());
        Self { fleet, repo, _database: Some(database) }
    }

    /// Adds a task and returns its id.
    #[track_caller]
    pub(crate) fn add(&self, title: &str) -> String {
        self.fleet.ok(&["task", "add", "-q", title]).trim_end().to_owned()
    }

    /// Everything that a command could have changed.
    #[track_caller]
    pub(crate) fn content(&self) -> String {
        self.fleet.ok(&["task", "export"])
            + &self.fleet.ok(&["events", "--json", "--since", "0", "-n", "9999"])
    }
}

/// The binary in a home of its own.
pub(crate) fn fleet() -> Fleet {
    Fleet::new(env!("CARGO_BIN_EXE_fleet"))
}

/// What a failed command with `--json` said: code, message and hints.
#[track_caller]
pub(crate) fn error(output: &Output) -> (String, String, String) {
    let line = output.stderr.trim_end();
    assert_eq!(line.lines().count(), 1, "one line of JSON: {line}");
    let said: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let error = said["error"].as_object().unwrap_or_else(|| panic!("no error: {line}"));
    let mut names: Vec<&str> = error.keys().map(String::as_str).collect();
    names.sort_unstable();
    names.retain(|name| *name != "field");
    assert_eq!(names, ["code", "hints", "message"]);
    if let Some(field) = error.get("field") {
        let begin = format!("{}: ", field.as_str().unwrap());
        assert!(error["message"].as_str().unwrap().starts_with(&begin), "{line}");
    }
    let hints: Vec<&str> =
        error["hints"].as_array().unwrap().iter().map(|hint| hint.as_str().unwrap()).collect();
    let text = |name: &str| error[name].as_str().unwrap().to_owned();
    (text("code"), text("message"), hints.join("\n"))
}

/// The lines of JSON that a command printed.
#[track_caller]
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a line of shell, with the binary as `$FLEET`, in the surroundings of `fleet`.
#[track_caller]
pub(crate) fn shell(fleet: &Fleet, line: &str) -> Output {
    let output = shell_command(fleet, line).output().expect("bash can be started");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The same, to be started by the test.
pub(crate) fn shell_command(fleet: &Fleet, line: &str) -> Command {
    let own = fleet.command(&[]);
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", line]).env_clear().stdin(Stdio::null());
    command.current_dir(own.get_current_dir().unwrap());
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("FLEET", own.get_program());
    command
}

/// Whether a program is there; says so when it is not.
pub(crate) fn has(program: &str) -> bool {
    let found =
        Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: there is no {program} here");
    }
    found
}

/// The same for a shell, which `cargo xtask test` installs where it can: CI must have it.
pub(crate) fn has_shell(name: &str) -> bool {
    let found = if has(name) { Ok(()) } else { Err(format!("there is no {name} here")) };
    present_or_skip(found).is_some()
}

/// Other systems have a `script` that takes other options.
pub(crate) fn can_make_terminals() -> bool {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: only Linux has the `script` of util-linux");
    }
    cfg!(target_os = "linux") && has("script") && has("stty")
}

pub(crate) const ESCAPE: char = '\u{1b}';

/// What stands on the terminal in the end; only the sequences that the block uses are understood.
pub(crate) fn settled(written: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let (mut row, mut rest) = (0_usize, written.chars().peekable());
    let mut at_start = true;
    while let Some(character) = rest.next() {
        match character {
            ESCAPE => {
                rest.next();
                let mut number = String::new();
                let end = loop {
                    match rest.next().expect("a whole sequence") {
                        c if c.is_ascii_alphabetic() => break c,
                        c => number.push(c),
                    }
                };
                match end {
                    'F' => {
                        row = row.checked_sub(number.parse().unwrap()).expect("not above the first line");
                        at_start = true;
                    }
                    'J' => lines.truncate(row + 1),
                    'K' | 'm' => {}
                    other => panic!("an unexpected sequence: {other}"),
                }
            }
            '\n' => {
                row += 1;
                at_start = true;
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            character => {
                // Every line is written whole, and what was there is erased behind it.
                if std::mem::take(&mut at_start) {
                    lines[row].clear();
                }
                lines[row].push(character);
            }
        }
    }
    lines
}

/// Ages become `1s` and clock times a pattern; columns stay where they are.
pub(crate) fn timeless(text: &str) -> String {
    text.lines().map(timeless_line).collect::<Vec<_>>().join("\n")
}

fn timeless_line(line: &str) -> String {
    let mut out = String::new();
    for (at, word) in line.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        match word {
            _ if is_age(word) && out.ends_with("    ") => {
                // Right-aligned: what the age is longer, there are fewer spaces before it.
                out.push_str(&" ".repeat(word.len() - 2));
                out.push_str("1s");
            }
            _ if is_age(word) && line.contains(" ago") => out.push_str("1s"),
            _ if is_age(word) => {
                out.push_str("1s");
                out.push_str(&" ".repeat(word.len() - 2));
            }
            _ if has_form(word, "0000-00-00") => out.push_str("YYYY-MM-DD"),
            _ if has_form(word, "00:00:00") => out.push_str("hh:mm:ss"),
            _ => out.push_str(word),
        }
    }
    out
}

fn is_age(word: &str) -> bool {
    word.len() >= 2
        && word.ends_with(['s', 'm'])
        && word[..word.len() - 1].chars().all(|c| c.is_ascii_digit() || c == 'm')
}

fn has_form(word: &str, form: &str) -> bool {
    word.len() == form.len()
        && word
            .chars()
            .zip(form.chars())
            .all(|(is, should)| if should == '0' { is.is_ascii_digit() } else { is == should })
}
