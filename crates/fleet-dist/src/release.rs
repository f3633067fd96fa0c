//! What every package is made from: a binary, and what it says about itself.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::archive::{ArchiveEntry, tar_gz};
use crate::{DistError, NAMES, Package, Platform, VERSION};

/// A built binary with everything that is installed beside it.
#[derive(Debug)]
pub struct Release {
    platform: Platform,
    pub(crate) binary: Vec<u8>,
    /// Name and text of each page, in order.
    pub(crate) manual: Vec<(String, Vec<u8>)>,
    pub(crate) completions: Completions,
    pub(crate) effort: Effort,
}

/// How long compressing may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Small files, for downloads.
    Small,
    /// Soon, for tests.
    Fast,
}

#[derive(Debug)]
pub(crate) struct Completions {
    pub(crate) bash: Vec<u8>,
    pub(crate) zsh: Vec<u8>,
    pub(crate) fish: Vec<u8>,
}

/// In every package.
pub(crate) const DOCUMENTS: [(&str, &str); 4] = [
    ("README.md", include_str!("../../../README.md")),
    ("CHANGELOG.md", include_str!("../../../CHANGELOG.md")),
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
];

impl Release {
    /// Reads a binary, and lets it write its manual and completions: it must run on this machine.
    pub fn of(path: &Path, effort: Effort) -> Result<Self, DistError> {
        let binary = fs::read(path)?;
        let platform = Platform::of(&binary).ok_or_else(|| DistError::Foreign(path.to_owned()))?;
        let version = String::from_utf8_lossy(&ask(path, &["--version"])?).trim().replace("fleet ", "");
        if version != VERSION {
            return Err(DistError::OtherVersion { path: path.to_owned(), found: version });
        }
        let completions = Completions {
            bash: ask(path, &["completions", "bash"])?,
            zsh: ask(path, &["completions", "zsh"])?,
            fish: ask(path, &["completions", "fish"])?,
        };
        Ok(Self { platform, binary, manual: manual(path)?, completions, effort })
    }

    /// What it runs on.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// Every package that there is for its platform.
    pub fn packages(&self) -> io::Result<Vec<Package>> {
        let mut packages = vec![self.archive()?, self.wheel()?, self.npm_program()?, self.npm_launcher()?];
        packages.extend(self.debian()?);
        Ok(packages)
    }

    /// `bin` and `share` in one folder, to be unpacked into `~/.local` or `/usr/local`.
    pub fn archive(&self) -> io::Result<Package> {
        let folder = format!("codefleet-{VERSION}-{}", self.platform.target());
        let documents = DOCUMENTS
            .map(|(name, text)| ArchiveEntry::file(format!("share/doc/codefleet/{name}"), text.as_bytes()));
        let entries = self.programs().into_iter().chain(self.shared()).chain(documents);
        let entries: Vec<_> = entries.map(|entry| entry.inside(&folder)).collect();
        Ok(Package { name: format!("{folder}.tar.gz"), bytes: tar_gz(&entries, self.effort)? })
    }

    /// The binary with its names, in `bin`.
    pub(crate) fn programs(&self) -> Vec<ArchiveEntry<'_>> {
        let [file, links @ ..] = NAMES;
        let links = links.map(|name| ArchiveEntry::link(format!("bin/{name}"), file));
        std::iter::once(ArchiveEntry::program(format!("bin/{file}"), &self.binary)).chain(links).collect()
    }

    /// The manual and the completions, in `share`, where most programs look for them.
    pub(crate) fn shared(&self) -> Vec<ArchiveEntry<'_>> {
        let Completions { bash, zsh, fish } = &self.completions;
        let pages =
            self.manual.iter().map(|(name, page)| ArchiveEntry::file(format!("share/man/man1/{name}"), page));
        let completions = [
            ArchiveEntry::file("share/bash-completion/completions/fleet", bash),
            ArchiveEntry::file("share/zsh/site-functions/_fleet", zsh),
            ArchiveEntry::file("share/fish/vendor_completions.d/fleet.fish", fish),
        ];
        pages.chain(completions).collect()
    }
}

fn manual(path: &Path) -> Result<Vec<(String, Vec<u8>)>, DistError> {
    let folder = tempfile::tempdir()?;
    ask(path, &["man", "--dir", &folder.path().to_string_lossy()])?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        pages.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    pages.sort();
    Ok(pages)
}

/// Runs the binary with nothing of the user's.
fn ask(path: &Path, arguments: &[&str]) -> Result<Vec<u8>, DistError> {
    let home = tempfile::tempdir()?;
    let mut command = Command::new(path);
    command.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
    let output = command.output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let command = format!("{} {}", path.display(), arguments.join(" "));
    Err(DistError::Binary { command, why: String::from_utf8_lossy(&output.stderr).trim().to_owned() })
}
