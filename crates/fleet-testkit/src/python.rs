//! Python for the tests: where `cargo xtask python` put the packages that nobody but Python has.
//!
//! Owns which packages and versions, and how they are found: the official client of the Model Context Protocol, which
//! the tests let talk to our server, the Python program that the benchmarks measure beside ours, and uv, which the tests
//! let install our wheel. Must never use
//! packages that the developer installed, nor install any where others find them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::clis;

/// Says in which directory the environments lie, if not in the target directory.
pub const DIRECTORY_VARIABLE: &str = "FLEET_TEST_PYTHON";
/// Says why they could not be installed. `cargo xtask test` sets it, so that the tests that are skipped can say it.
pub const SKIPPED_VARIABLE: &str = "FLEET_TEST_PYTHON_SKIPPED";

/// The oldest Python, as `3.x`, that all packages run on.
pub const OLDEST: u32 = 11;

/// Holds the requirements from which an environment was made.
const STAMP: &str = "installed.txt";

/// A Python with packages of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Python {
    /// With the official client of the Model Context Protocol.
    Client,
    /// With the Python program that ours is to surpass.
    Original,
    /// With an installer of packages that MCP clients use.
    Uv,
}

impl Python {
    pub const ALL: [Self; 3] = [Self::Client, Self::Original, Self::Uv];

    /// All packages with their versions, for `pip install --requirement`. They name no registry, so that everybody's
    /// own is asked.
    pub fn requirements(self) -> &'static str {
        match self {
            Self::Client => include_str!("../python/client.txt"),
            Self::Original => include_str!("../python/original.txt"),
            Self::Uv => include_str!("../python/uv.txt"),
        }
    }

    /// Where it is, or belongs.
    pub fn directory(self) -> PathBuf {
        let given = env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let directory = given.unwrap_or_else(clis::target).join(match self {
            Self::Client => "python",
            Self::Original => "python-original",
            Self::Uv => "python-uv",
        });
        std::path::absolute(&directory).unwrap_or(directory)
    }

    /// Whether `directory` holds all packages in the versions that are wanted now.
    pub fn is_in(self, directory: &Path) -> bool {
        let stamp = fs::read_to_string(directory.join(STAMP));
        stamp.is_ok_and(|stamp| stamp == self.requirements()) && program(directory).exists()
    }

    /// Ends an installation: from now on the directory counts as complete.
    pub fn mark_installed(self, directory: &Path) -> io::Result<()> {
        fs::write(directory.join(STAMP), self.requirements())
    }

    /// A Python that sees its own packages and nothing of the developer's, or why there is none.
    pub fn command(self) -> Result<Command, String> {
        let directory = self.directory();
        if !self.is_in(&directory) {
            let why = env::var(SKIPPED_VARIABLE).ok().filter(|why| !why.is_empty());
            return Err(why.unwrap_or_else(|| {
                format!("{} is not there; `cargo xtask python` makes it", directory.display())
            }));
        }
        let mut command = Command::new(program(&directory));
        // Isolated from variables and from what the user has installed for himself.
        command.args(["-I", "-B"]);
        Ok(command)
    }

    /// The same for a test: none when the test is to be skipped, which is said on standard error. In CI nothing may
    /// be skipped, and it panics.
    #[track_caller]
    pub fn or_skip(self) -> Option<Command> {
        clis::present_or_skip(self.command())
    }
}

/// The interpreter of an environment. It is the only program there that may be used: the others hold the name of the
/// directory in which they were made.
pub fn program(directory: &Path) -> PathBuf {
    directory.join("bin").join("python")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_pinned_and_no_registry_named() {
        let packages = [
            (Python::Client, "mcp==2.3.0"),
            (Python::Original, "codefleet==0.3.26"),
            (Python::Uv, "uv==0.13.7"),
        ];
        for (python, package) in packages {
            let lines: Vec<&str> = python.requirements().lines().collect();
            assert!(lines.contains(&package), "{lines:?}");
            assert!(lines.iter().all(|line| line.split_once("==").is_some()), "{lines:?}");
            assert!(!python.requirements().contains("://"), "an address among the requirements");
        }
        assert!(Python::Original.requirements().contains("\nmcp==1."), "it does not run with a newer one");
    }

    #[test]
    fn an_environment_counts_once_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        fs::write(program(dir.path()), "").unwrap();
        assert!(!Python::Client.is_in(dir.path()), "not marked");
        Python::Client.mark_installed(dir.path()).unwrap();
        assert!(Python::Client.is_in(dir.path()));
        assert!(!Python::Original.is_in(dir.path()), "other packages");
        fs::remove_file(program(dir.path())).unwrap();
        assert!(!Python::Client.is_in(dir.path()), "no interpreter");
    }
}
