//! The real agents: where `cargo xtask agents` put them, and surroundings in which they talk to a scripted model.
//!
//! Owns which versions the tests run, how they are found, and what a fresh home needs so that each speaks to a
//! [`ModelServer`](crate::model::ModelServer) instead of its vendor. Must never use an agent that the developer
//! installed, nor the developer's home, keys or settings.

mod direct;
mod home;
mod packages;
#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use direct::{Direct, Ended, Running};
pub use home::on_a_plan;
pub(crate) use packages::target;
pub use packages::{LOCK, Platform, directory, is_installed, mark_installed};

/// Says where the agents are installed, if not in the target directory.
pub const DIRECTORY_VARIABLE: &str = "FLEET_TEST_AGENTS";
/// Says why they could not be installed. `cargo xtask test` sets it, so that the tests that are skipped can say it.
pub const SKIPPED_VARIABLE: &str = "FLEET_TEST_AGENTS_SKIPPED";

/// The oldest node that gemini runs on.
pub const OLDEST_NODE: u32 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cli {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Cli {
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// The name of its program, which is also codefleet's name for the agent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Where it is, or why it cannot be run here.
    pub fn program(self) -> Result<PathBuf, String> {
        let directory = directory();
        if !is_installed(&directory) {
            let why = env::var(SKIPPED_VARIABLE).ok().filter(|why| !why.is_empty());
            let usual = || format!("{} is not installed; `cargo xtask agents` does that", self.name());
            return Err(why.unwrap_or_else(usual));
        }
        if self == Self::Gemini {
            check_node(node_version())?;
        }
        Ok(programs(&directory).join(self.name()))
    }

    /// The same for a test: none when the test is to be skipped, which is said on standard error. In CI nothing may
    /// be skipped, and it panics.
    #[track_caller]
    pub fn or_skip(self) -> Option<PathBuf> {
        present_or_skip(self.program())
    }

    /// Prepares `home`, and returns the environment of a user whose agent talks to `base`: a dummy key, no
    /// telemetry, nothing of the developer's but `PATH`, on which the agents of the tests come first.
    ///
    /// What codefleet's own adapter should do is left to it: how the agent is told not to ask, and the like.
    pub fn environment(self, base: &str, home: &Path) -> Vec<(OsString, OsString)> {
        home::prepare(self, base, home)
    }
}

/// The directory that holds a program for each agent, for `PATH`.
pub fn programs(directory: &Path) -> PathBuf {
    directory.join("bin")
}

/// What a test needs; none when the test is to be skipped for the want of it, which is said. In CI it panics.
#[track_caller]
pub fn present_or_skip<T>(needed: Result<T, String>) -> Option<T> {
    match needed {
        Ok(needed) => Some(needed),
        Err(why) if in_ci() => panic!("must not be skipped in CI: {why}"),
        Err(why) => {
            say(&format!("skipped: {why}"));
            None
        }
    }
}

/// Whether this is a machine that checks the project: there, a test that is skipped is a test that failed.
pub fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

/// What `node --version` prints, if there is a node.
fn node_version() -> Option<String> {
    let output = Command::new("node").arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn check_node(version: Option<String>) -> Result<(), String> {
    let version =
        version.ok_or_else(|| format!("gemini needs node {OLDEST_NODE}, and there is none on PATH"))?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major >= OLDEST_NODE) {
        Ok(())
    } else {
        Err(format!("gemini needs node {OLDEST_NODE}, and this is {version}"))
    }
}

#[expect(clippy::print_stderr, reason = "a test that does nothing must say so")]
fn say(text: &str) {
    eprintln!("{text}");
}
