//! `cargo xtask agents`: the real agents for the tests, from npm into the target directory.
//!
//! They are installed beside the target directory's other contents and never elsewhere; what the developer has
//! installed is neither used nor touched. Where it cannot be done, the reason is passed on, and only CI insists.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use fleet_testkit::clis::{self, DIRECTORY_VARIABLE, Platform, SKIPPED_VARIABLE};

use crate::failure::Failure;
use crate::process;
use crate::staging::{self, in_words};
use crate::step::Step;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::Usage(format!("`agents` takes no argument `{argument}`")));
    }
    Ok(match Agents::ensure() {
        Agents::Installed(_) => ExitCode::SUCCESS,
        Agents::Skipped(_) => ExitCode::FAILURE,
    })
}

/// Whether the tests can run real agents.
#[derive(Debug)]
pub(crate) enum Agents {
    /// They are in this directory.
    Installed(PathBuf),
    /// They are not, because of this.
    Skipped(String),
}

impl Agents {
    /// Installs them, unless they are there.
    pub(crate) fn ensure() -> Self {
        let step = Step::begin("agents");
        let directory = clis::directory();
        if clis::is_installed(&directory) {
            step.end("ok");
            return Self::Installed(directory);
        }
        match install(&directory) {
            Ok(()) => {
                step.end(&format!("installed into {}", directory.display()));
                Self::Installed(directory)
            }
            Err(why) => {
                step.end(&format!("skipped: tests with real agents, {why}"));
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
            Self::Installed(directory) => command.env(DIRECTORY_VARIABLE, directory),
            Self::Skipped(why) => command.env(SKIPPED_VARIABLE, why),
        };
    }
}

/// The registry is tried long enough for a slow network, not for one that is not there.
const NPM: [&str; 9] = [
    "--ignore-scripts",
    "--omit=optional",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
    "--loglevel=error",
];

fn install(directory: &Path) -> Result<(), String> {
    let platform = Platform::this().ok_or("there are no packages for this kind of machine")?;
    if !process::succeeds(process::command("npm").arg("--version")) {
        return Err("npm is not installed".to_owned());
    }
    staging::replace(directory, clis::is_installed, |staging| {
        npm(staging, platform)?;
        clis::mark_installed(staging, platform).map_err(in_words)
    })
}

fn npm(staging: &Path, platform: Platform) -> Result<(), String> {
    fs::create_dir_all(staging).map_err(in_words)?;
    fs::write(staging.join("package.json"), platform.manifest()).map_err(in_words)?;
    let verb = match platform.lock() {
        Some(lock) => {
            fs::write(staging.join("package-lock.json"), lock).map_err(in_words)?;
            "ci"
        }
        None => "install",
    };
    println!("installing four agents for {} with npm: about 400 MB", platform.name());
    let mut npm = process::command("npm");
    npm.arg(verb).args(NPM).current_dir(staging);
    match process::run(&mut npm) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("`npm {verb}` failed, see above")),
        Err(failure) => Err(failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_learn_where_the_agents_are_or_why_not() {
        let told = |agents: Agents| {
            let mut command = process::command("true");
            agents.offer_to(&mut command);
            let (name, value) = command.get_envs().next().unwrap();
            (name.to_owned(), value.unwrap().to_owned())
        };
        assert_eq!(told(Agents::Installed("/x".into())), (DIRECTORY_VARIABLE.into(), "/x".into()));
        assert_eq!(told(Agents::Skipped("no npm".into())), (SKIPPED_VARIABLE.into(), "no npm".into()));
    }

    #[test]
    fn arguments_are_refused() {
        assert!(matches!(run(&["claude".to_owned()]), Err(Failure::Usage(_))));
    }
}
