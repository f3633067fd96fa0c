//! Packages of codefleet, each made from one built binary: an archive, a Debian package, a wheel, npm packages, and what
//! belongs to a release of them.
//!
//! Owns the formats. Must never build, download or upload anything. `cargo xtask dist` writes packages; the tests of the
//! binary install them.

#![expect(
    clippy::disallowed_methods,
    reason = "the binary itself writes the manual and the completions of a package"
)]

mod archive;
mod debian;
mod formula;
mod notes;
mod npm;
mod platform;
mod release;
mod wheel;

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

pub use formula::formula;
pub use notes::notes;
pub use platform::Platform;
pub use release::{Effort, Release};

/// The version of everything in the workspace, and so of every package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The names under which the binary is installed: the first is the file, the others lead to it.
const NAMES: [&str; 3] = ["fleet", "flt", "codefleet"];

const DESCRIPTION: &str = env!("CARGO_PKG_DESCRIPTION");

/// A file to be published.
#[derive(Debug)]
pub struct Package {
    /// Its file name, which says version and platform.
    pub name: String,
    /// The whole file.
    pub bytes: Vec<u8>,
}

impl Package {
    /// Writes it and returns where it is.
    pub fn write_into(&self, folder: &Path) -> io::Result<PathBuf> {
        let path = folder.join(&self.name);
        std::fs::write(&path, &self.bytes)?;
        Ok(path)
    }

    /// As `sha256sum` prints it.
    pub fn checksum(&self) -> String {
        let digits: Vec<_> = Sha256::digest(&self.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    }
}

/// Why a package cannot be made.
#[derive(Debug, Error)]
pub enum DistError {
    /// The file is not one that codefleet is built for.
    #[error("{} is not a program for Linux or macOS on x86-64 or ARM64", .0.display())]
    Foreign(PathBuf),
    /// Packages name the version of the workspace.
    #[error("{} has version {found}, not {VERSION}", path.display())]
    OtherVersion {
        /// The binary.
        path: PathBuf,
        /// What it says.
        found: String,
    },
    /// The binary does not do what the package needs.
    #[error("`{command}` failed: {why}")]
    Binary {
        /// What was run.
        command: String,
        /// What it said.
        why: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
