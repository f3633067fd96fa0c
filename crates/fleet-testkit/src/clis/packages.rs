//! Which packages are installed, and where.
//!
//! `agents/package.json` names the packages of one platform; those of the others differ only in the platform's name.
//! They hold plain programs, so that neither installation scripts nor wrappers are needed.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use super::{Cli, DIRECTORY_VARIABLE, programs};

const MANIFEST: &str = include_str!("../../agents/package.json");
/// What npm found for [`Platform::LinuxX64`]; it names no registry, so that everybody's own is asked.
///
/// There is none for the other platforms: npm writes one only for packages that its registry has, and those of all
/// platforms are hardly ever together.
pub const LOCK: &str = include_str!("../../agents/package-lock.json");
/// Holds the manifest from which the directory was made.
const STAMP: &str = "installed.json";

/// A kind of machine for which there are packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    LinuxX64,
    LinuxArm64,
    DarwinArm64,
    DarwinX64,
}

impl Platform {
    pub fn this() -> Option<Self> {
        match (env::consts::OS, env::consts::ARCH) {
            ("linux", "x86_64") => Some(Self::LinuxX64),
            ("linux", "aarch64") => Some(Self::LinuxArm64),
            ("macos", "aarch64") => Some(Self::DarwinArm64),
            ("macos", "x86_64") => Some(Self::DarwinX64),
            _ => None,
        }
    }

    /// As node calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LinuxX64 => "linux-x64",
            Self::LinuxArm64 => "linux-arm64",
            Self::DarwinArm64 => "darwin-arm64",
            Self::DarwinX64 => "darwin-x64",
        }
    }

    /// As Rust calls it, with the C library that codex is built for.
    fn triple(self) -> &'static str {
        match self {
            Self::LinuxX64 => "x86_64-unknown-linux-musl",
            Self::LinuxArm64 => "aarch64-unknown-linux-musl",
            Self::DarwinArm64 => "aarch64-apple-darwin",
            Self::DarwinX64 => "x86_64-apple-darwin",
        }
    }

    /// The `package.json` to install from.
    pub fn manifest(self) -> String {
        MANIFEST.replace(Self::LinuxX64.name(), self.name())
    }

    /// The `package-lock.json` that goes with it, if there is one.
    pub fn lock(self) -> Option<&'static str> {
        (self == Self::LinuxX64).then_some(LOCK)
    }

    /// The program of an agent, below the directory of its installation.
    fn program(self, cli: Cli) -> PathBuf {
        let (name, triple) = (self.name(), self.triple());
        let below = match cli {
            Cli::Claude => format!("@anthropic-ai/claude-code-{name}/claude"),
            Cli::Codex => format!("codex-{name}/vendor/{triple}/bin/codex"),
            Cli::Gemini => "@google/gemini-cli/bundle/gemini.js".to_owned(),
            Cli::Opencode => format!("opencode-{name}/bin/opencode"),
        };
        Path::new("node_modules").join(below)
    }
}

/// Where the agents are, or belong.
pub fn directory() -> PathBuf {
    let directory = given(DIRECTORY_VARIABLE).unwrap_or_else(|| target().join("agents"));
    std::path::absolute(&directory).unwrap_or(directory)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("."));
    given("CARGO_TARGET_DIR").unwrap_or_else(|| workspace.join("target"))
}

fn given(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether all agents are there, in the versions that are wanted now.
pub fn is_installed(directory: &Path) -> bool {
    let Some(platform) = Platform::this() else { return false };
    let stamp = fs::read_to_string(directory.join(STAMP)).ok();
    stamp.is_some_and(|stamp| stamp == platform.manifest())
        && Cli::ALL.into_iter().all(|cli| programs(directory).join(cli.name()).exists())
}

/// Ends an installation: every agent gets a program of its plain name, and then the directory counts as complete.
pub fn mark_installed(directory: &Path, platform: Platform) -> io::Result<()> {
    let programs = programs(directory);
    fs::create_dir_all(&programs)?;
    for cli in Cli::ALL {
        let program = platform.program(cli);
        if !directory.join(&program).is_file() {
            let text = format!("npm installed no {}: there is no {}", cli.name(), program.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        std::os::unix::fs::symlink(Path::new("..").join(program), programs.join(cli.name()))?;
    }
    fs::write(directory.join(STAMP), platform.manifest())
}
