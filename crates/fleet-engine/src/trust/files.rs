//! Files of a repository to which the user has to agree, by what is in them.
//!
//! Owns how they are found and read. Must never follow a link, wait for a pipe or read without end: a workspace holds what
//! strangers and agents wrote.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::hex;

/// More files than settings have. A folder with more cannot be agreed to.
const MAX_FILES: usize = 1_000;

/// Larger files are not settings.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The texts that prompts are made from, below a checkout.
pub(crate) const TEMPLATES: &[&str] = &[".fleet/templates/task.md", ".fleet/templates/resume.md"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectFile {
    /// Relative to the work tree.
    pub(crate) path: String,
    /// Of its content; none if it cannot be agreed to: a link, a pipe, or too large.
    pub(crate) sha256: Option<String>,
}

impl ProjectFile {
    pub(crate) fn look(root: &Path, path: &str) -> io::Result<Self> {
        let sha256 = if is_plain(root, path)? { content(&root.join(path))? } else { None };
        Ok(Self { path: path.to_owned(), sha256 })
    }

    /// The file as it was when this was read from it.
    pub(crate) fn with_text(path: String, text: &str) -> Self {
        Self { path, sha256: Some(hex(&Sha256::digest(text))) }
    }
}

/// All files at these places that are there: a folder means everything in it.
pub(crate) fn below(root: &Path, places: &[&str]) -> io::Result<Vec<ProjectFile>> {
    let mut found = Vec::new();
    let mut left: Vec<String> = places.iter().rev().map(|&place| place.to_owned()).collect();
    while let Some(path) = left.pop() {
        let is_folder = match fs::symlink_metadata(root.join(&path)) {
            Ok(entry) => entry.is_dir(),
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(error),
        };
        if found.len() >= MAX_FILES {
            found.push(ProjectFile { path, sha256: None });
            break;
        }
        if is_folder && is_plain(root, &path)? {
            left.extend(entries(&root.join(&path))?.into_iter().rev().map(|name| format!("{path}/{name}")));
        } else {
            found.push(ProjectFile::look(root, &path)?);
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.take(MAX_FILES + 1).map(|entry| Ok(entry?.file_name()));
    let mut names = names
        .map(|name: io::Result<_>| Ok(name?.to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Whether no part of the path is a link.
fn is_plain(root: &Path, path: &str) -> io::Result<bool> {
    let mut at = root.to_owned();
    for part in path.split('/') {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(entry) if entry.is_symlink() => return Ok(false),
            Ok(_) => {}
            // The name was not UTF-8, or it has vanished.
            Err(error) if is_absent(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// A number for what is in a file, if it is one.
fn content(path: &Path) -> io::Result<Option<String>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= LARGEST).then(|| hex(&Sha256::digest(&bytes))))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn every_file_below_a_place_is_found_with_its_content() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), ".claude/settings.json", "{}");
        write(dir.path(), ".claude/agents/a.md", "a");
        write(dir.path(), ".claudette/x", "not meant");
        write(dir.path(), ".mcp.json", "{}");
        let found = below(dir.path(), &[".claude", ".mcp.json", ".codex"]).unwrap();
        let paths: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [".claude/agents/a.md", ".claude/settings.json", ".mcp.json"]);
        assert_eq!(found[1].sha256, found[2].sha256);
        assert!(found.iter().all(|file| file.sha256.as_ref().is_some_and(|hash| hash.len() == 64)));
    }

    #[test]
    fn nobody_can_agree_to_links_pipes_and_what_has_no_end() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "elsewhere/settings.json", "{}");
        symlink("elsewhere", dir.path().join(".claude")).unwrap();
        write(dir.path(), ".codex/real", "");
        symlink("real", dir.path().join(".codex/config.toml")).unwrap();
        write(dir.path(), ".mcp.json", &" ".repeat(5_000_000));
        rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join(".env"), rustix::fs::Mode::RUSR).unwrap();
        let found = below(dir.path(), &[".claude", ".codex", ".mcp.json", ".env"]).unwrap();
        let refused: Vec<&str> =
            found.iter().filter(|file| file.sha256.is_none()).map(|file| file.path.as_str()).collect();
        assert_eq!(refused, [".claude", ".codex/config.toml", ".mcp.json", ".env"]);
        symlink("elsewhere", dir.path().join(".github")).unwrap();
        let behind = below(dir.path(), &[".github/settings.json"]).unwrap();
        assert_eq!(behind[0].sha256, None, "nor to what is behind a link");
    }

    #[test]
    fn a_folder_with_too_many_files_is_not_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..MAX_FILES + 5 {
            write(dir.path(), &format!(".claude/{number}"), "");
        }
        let found = below(dir.path(), &[".claude"]).unwrap();
        assert_eq!((found.len(), found.last().unwrap().sha256.clone()), (MAX_FILES + 1, None));
    }
}
