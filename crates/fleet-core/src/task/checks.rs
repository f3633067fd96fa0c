//! The commands that must succeed on the work of a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FieldError;
use crate::argv;
use crate::text::escaped;

/// More, or longer ones, belong in a script of the repository.
const MAX_CHECKS: usize = 32;
/// In bytes, all together.
const LONGEST_CHECKS: usize = 16 * 1024;

/// Commands, each by its arguments: no shell looks at them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<CheckForm>")]
pub struct TaskChecks(Vec<Vec<String>>);

/// As people write one: a line, or the program and its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum CheckForm {
    Line(String),
    Argv(Vec<String>),
}

impl TaskChecks {
    /// From lines as they are typed: split into words as a shell does, and refused if they need one.
    pub fn from_lines(lines: &[String]) -> Result<Self, FieldError> {
        Self::checked(lines.iter().map(|line| words(line)).collect::<Result<_, _>>()?)
    }

    pub fn argvs(&self) -> &[Vec<String>] {
        &self.0
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn checked(checks: Vec<Vec<String>>) -> Result<Self, FieldError> {
        if checks.len() > MAX_CHECKS {
            return Err(wrong(format!("{} commands, at most {MAX_CHECKS} are allowed", checks.len())));
        }
        let texts = || checks.iter().flatten();
        if texts().map(String::len).sum::<usize>() > LONGEST_CHECKS {
            return Err(wrong(format!("they have more than {LONGEST_CHECKS} bytes")));
        }
        if texts().any(|text| text.contains('\0')) {
            return Err(wrong("a command contains a NUL character".to_owned()));
        }
        if checks.iter().any(|argv| argv.first().is_none_or(|program| program.trim().is_empty())) {
            return Err(wrong("a check is a command: a program and its arguments".to_owned()));
        }
        Ok(Self(checks))
    }
}

impl TryFrom<Vec<CheckForm>> for TaskChecks {
    type Error = FieldError;

    fn try_from(forms: Vec<CheckForm>) -> Result<Self, FieldError> {
        let argv = |form| match form {
            CheckForm::Line(line) => words(&line),
            CheckForm::Argv(argv) => Ok(argv),
        };
        Self::checked(forms.into_iter().map(argv).collect::<Result<_, _>>()?)
    }
}

fn words(line: &str) -> Result<Vec<String>, FieldError> {
    argv::split(line)
        .map_err(|why| wrong(format!("`{}`: {why}; to use a shell, name it: sh -c '…'", escaped(line))))
}

const fn wrong(why: String) -> FieldError {
    FieldError { field: "check", why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<TaskChecks, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_and_its_words_are_the_same_check() {
        let lines = ["cargo test --all".to_owned(), "sh -c 'make | tee log'".to_owned()];
        let typed = TaskChecks::from_lines(&lines).unwrap();
        assert_eq!(typed.argvs(), [vec!["cargo", "test", "--all"], vec!["sh", "-c", "make | tee log"]]);
        let written = read(r#"["cargo test --all", ["sh", "-c", "make | tee log"]]"#).unwrap();
        assert_eq!(written, typed);
        assert_eq!(read(&serde_json::to_string(&typed).unwrap()).unwrap(), typed);
        assert!(read("[]").unwrap().is_empty());
    }

    #[test]
    fn what_needs_a_shell_or_is_no_command_is_refused() {
        for (json, why) in [
            (r#"["make && make test"]"#, "to use a shell, name it"),
            (r#"[""]"#, "it is empty"),
            ("[[]]", "a program and its arguments"),
            (r#"[["make", "\u0000"]]"#, "NUL"),
            (r#"["sh -c 'a"]"#, "a ' is missing"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
        assert!(TaskChecks::from_lines(&vec!["make".to_owned(); 33]).is_err());
        assert!(TaskChecks::from_lines(&["x".repeat(16 * 1024 + 1)]).is_err());
    }
}
