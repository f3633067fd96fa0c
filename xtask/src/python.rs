//! `cargo xtask python`: Python packages for tests and benchmarks, from everybody's own package index into the target
//! directory.
//!
//! They are in their own virtual environments; what the developer has installed is neither used nor touched. Where it
//! cannot be done, the reason is passed on, and only CI insists.

use std::path::Path;
use std::process::{Command, ExitCode};

use fleet_testkit::clis;
use fleet_testkit::python::{DIRECTORY_VARIABLE, OLDEST, Python, SKIPPED_VARIABLE, program};

use crate::failure::Failure;
use crate::staging::{self, in_words};
use crate::step::Step;
use crate::{process, tools};

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::Usage(format!("`python` takes no argument `{argument}`")));
    }
    let all = Python::ALL.map(Packages::ensure);
    let whole = all.iter().all(|packages| matches!(packages, Packages::Installed(_)));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether packages are there.
#[derive(Debug)]
pub(crate) enum Packages {
    /// They are.
    Installed(Python),
    /// They are not, because of this.
    Skipped(String),
}

impl Packages {
    /// Installs them, unless they are there.
    pub(crate) fn ensure(python: Python) -> Self {
        let step = Step::begin("python");
        let directory = python.directory();
        if python.is_in(&directory) {
            step.end("ok");
            return Self::Installed(python);
        }
        match install(python, &directory) {
            Ok(()) => {
                step.end(&format!("installed into {}", directory.display()));
                Self::Installed(python)
            }
            Err(why) => {
                step.end(&format!("skipped: what needs Python packages, {why}"));
                Self::Skipped(why)
            }
        }
    }

    /// CI exists to run what others may skip.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Skipped(_)) && clis::in_ci()
    }

    pub(crate) fn offer_to(&self, command: &mut Command) {
        match self {
            Self::Installed(python) => {
                let directory = python.directory();
                command.env(DIRECTORY_VARIABLE, directory.parent().unwrap_or(&directory))
            }
            Self::Skipped(why) => command.env(SKIPPED_VARIABLE, why),
        };
    }
}

/// In the order in which they are tried: the usual one, then those that a system has beside an older one.
const INTERPRETERS: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];
/// Debian's Python cannot make environments without it.
const PACKAGE: &str = "python3-venv";

fn install(python: Python, directory: &Path) -> Result<(), String> {
    let interpreter = match interpreter() {
        Some(interpreter) => interpreter,
        None if tools::install_package(PACKAGE).map_err(|failure| failure.to_string())? => {
            interpreter().ok_or_else(missing)?
        }
        None => return Err(missing()),
    };
    staging::replace(
        directory,
        |directory| python.is_in(directory),
        |staging| {
            must(process::command(interpreter).args(["-m", "venv"]).arg(staging))?;
            let list = staging.join("requirements.txt");
            std::fs::write(&list, python.requirements()).map_err(in_words)?;
            must(pip(staging).arg("--requirement").arg(&list))?;
            python.mark_installed(staging).map_err(in_words)
        },
    )
}

fn missing() -> String {
    format!("there is no Python 3.{OLDEST} or newer that can make environments ({PACKAGE} on Debian)")
}

/// The first that is new enough and can make environments.
fn interpreter() -> Option<&'static str> {
    let test = format!("import sys, venv, ensurepip; sys.exit(sys.version_info < (3, {OLDEST}))");
    INTERPRETERS.into_iter().find(|name| process::succeeds(process::command(name).args(["-c", &test])))
}

/// Only what is built: nothing is compiled here, and no script of a package runs.
fn pip(staging: &Path) -> Command {
    let mut pip = process::command(program(staging));
    pip.args(["-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    pip.args(["--only-binary=:all:", "--retries=2"]);
    pip
}

fn must(command: &mut Command) -> Result<(), String> {
    match process::run(command) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("`{}` failed, see above", words(command))),
        Err(failure) => Err(failure.to_string()),
    }
}

fn words(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    std::iter::once(command.get_program().to_string_lossy()).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_learn_where_the_packages_are_or_why_not() {
        let told = |packages: Packages| {
            let mut command = process::command("true");
            packages.offer_to(&mut command);
            let (name, value) = command.get_envs().next().unwrap();
            (name.to_owned(), value.unwrap().to_owned())
        };
        let directory = Python::Client.directory();
        let above = directory.parent().unwrap().as_os_str().to_owned();
        assert_eq!(told(Packages::Installed(Python::Client)), (DIRECTORY_VARIABLE.into(), above));
        assert_eq!(told(Packages::Skipped("no pip".into())), (SKIPPED_VARIABLE.into(), "no pip".into()));
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = must(process::command("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error, "`sh -c exit 3` failed, see above");
    }

    #[test]
    fn arguments_are_refused() {
        assert!(matches!(run(&["mcp".to_owned()]), Err(Failure::Usage(_))));
    }
}
