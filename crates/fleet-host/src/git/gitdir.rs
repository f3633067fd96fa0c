//! What makes a directory a git directory, and what its pointer files say.
//!
//! Follows `is_git_directory` and `read_gitfile` of git's `setup.c`, with one difference: an unreadable path is an
//! error here. Git takes it for "no repository" and searches upwards, which could find the wrong one.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::config::{self, Shape};
use super::discover::DiscoverError;

/// Git refuses a larger pointer file too; a file of this name that is so large is something else.
const POINTER_LIMIT: u64 = 1 << 20;

/// The part of `HEAD` that git reads.
const HEAD_LIMIT: u64 = 255;

/// Git accepts larger ones, but does not write them.
const CONFIG_LIMIT: u64 = 16 << 20;

/// A directory that passed git's test.
#[derive(Debug)]
pub(super) struct GitDir {
    /// Where `HEAD` and the index are; canonical.
    pub(super) own: PathBuf,
    /// Where objects and branches are: the same directory unless this is a linked worktree's; canonical.
    pub(super) common: PathBuf,
}

impl GitDir {
    /// The git directory at `path`, or `None` if there is something else or nothing.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, DiscoverError> {
        let head = path.join("HEAD");
        if look(&head, fs::symlink_metadata)?.is_none() {
            return Ok(None);
        }
        let common = common_dir(path)?;
        // `HEAD` is checked last: any folder may hold an unreadable file of that name, and only in something that
        // otherwise looks like a repository is that an error.
        if !is_dir(&common.join("objects"))? || !is_dir(&common.join("refs"))? || !is_head(&head)? {
            return Ok(None);
        }
        Ok(Some(Self { own: canonical(path)?, common: canonical(&common)? }))
    }

    /// The git directory that the `.git` file `file` points to.
    pub(super) fn follow(file: &Path) -> Result<Self, DiscoverError> {
        let content = read_pointer(file)?;
        let Some(target) = content.strip_prefix(b"gitdir: ").and_then(|target| resolve(file, target)) else {
            return Err(DiscoverError::InvalidGitFile { file: file.to_owned() });
        };
        match Self::open(&target)? {
            Some(git_dir) => Ok(git_dir),
            None => Err(DiscoverError::BrokenGitFile { file: file.to_owned(), target }),
        }
    }

    /// Whether the repository says that a directory which holds it as `.git` is no checkout all the same.
    ///
    /// A shared `core.bare` is about the main checkout, so that a bare repository can have linked worktrees.
    pub(super) fn is_bare(&self) -> Result<bool, DiscoverError> {
        let shared = read_shape(&self.common.join("config"))?;
        let bare = if shared.worktree_config {
            read_shape(&self.own.join("config.worktree"))?.bare.or(shared.bare)
        } else if self.own == self.common {
            shared.bare
        } else {
            None
        };
        Ok(bare.unwrap_or(false))
    }
}

/// Where a git directory keeps what it shares with others: the target of its `commondir` file, or itself.
fn common_dir(git_dir: &Path) -> Result<PathBuf, DiscoverError> {
    let file = git_dir.join("commondir");
    match look(&file, fs::metadata)? {
        None => return Ok(git_dir.to_owned()),
        // Reading a pipe of that name would block forever.
        Some(metadata) if !metadata.is_file() => return Err(DiscoverError::InvalidGitFile { file }),
        Some(_) => {}
    }
    let content = read_pointer(&file)?;
    let Some(target) = resolve(&file, &content) else {
        return Err(DiscoverError::InvalidGitFile { file });
    };
    if is_dir(&target)? { Ok(target) } else { Err(DiscoverError::BrokenGitFile { file, target }) }
}

/// The path in a pointer file; a relative one starts at the folder of that file. `None` if there is none.
fn resolve(file: &Path, target: &[u8]) -> Option<PathBuf> {
    let folder = file.parent()?;
    (!target.is_empty()).then(|| folder.join(OsStr::from_bytes(target)))
}

/// The content of a pointer file without the end of its line. Spaces stay: they may be part of a name.
fn read_pointer(file: &Path) -> Result<Vec<u8>, DiscoverError> {
    let mut content = read_start(file, POINTER_LIMIT).map_err(DiscoverError::io(file))?;
    if content.len() as u64 == POINTER_LIMIT {
        return Err(DiscoverError::InvalidGitFile { file: file.to_owned() });
    }
    while content.pop_if(|byte| matches!(byte, b'\n' | b'\r')).is_some() {}
    Ok(content)
}

/// Whether `path` can be a `HEAD`: the name of a ref, as text or as a symbolic link, or the id of a commit.
fn is_head(path: &Path) -> Result<bool, DiscoverError> {
    let Some(metadata) = look(path, fs::symlink_metadata)? else { return Ok(false) };
    if metadata.is_symlink() {
        // Old repositories; the branch that it leads to need not exist yet.
        let target = fs::read_link(path).map_err(DiscoverError::io(path))?;
        return Ok(target.as_os_str().as_bytes().starts_with(b"refs/"));
    }
    if !metadata.is_file() {
        return Ok(false);
    }
    let content = read_start(path, HEAD_LIMIT).map_err(DiscoverError::io(path))?;
    Ok(match content.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        // A SHA-256 id begins with what could be a SHA-1 id, so one length is enough.
        None => content.get(..40).is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit)),
    })
}

fn read_shape(file: &Path) -> Result<Shape, DiscoverError> {
    match read_start(file, CONFIG_LIMIT) {
        Ok(content) if content.len() as u64 == CONFIG_LIMIT => {
            Err(DiscoverError::io(file)(io::ErrorKind::FileTooLarge.into()))
        }
        Ok(content) => Ok(config::parse(&content)),
        Err(error) if is_absence(&error) => Ok(Shape::default()),
        Err(error) => Err(DiscoverError::io(file)(error)),
    }
}

/// Reads regular files only: a pipe would block forever, a device need not end.
fn read_start(file: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(file, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut content = Vec::new();
    file.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

fn is_dir(path: &Path) -> Result<bool, DiscoverError> {
    Ok(look(path, fs::metadata)?.is_some_and(|metadata| metadata.is_dir()))
}

fn canonical(path: &Path) -> Result<PathBuf, DiscoverError> {
    fs::canonicalize(path).map_err(DiscoverError::io(path))
}

/// What is at `path`, if anything: with or without following a last symbolic link, as `stat` does.
pub(super) fn look<'a>(
    path: &'a Path,
    stat: impl FnOnce(&'a Path) -> io::Result<Metadata>,
) -> Result<Option<Metadata>, DiscoverError> {
    match stat(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(DiscoverError::io(path)(error)),
    }
}

/// Whether a path failed because nothing is there, or nothing can be: a part is a file, or the name is too long.
pub(super) fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_that_never_ends_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        std::os::unix::fs::symlink("/dev/zero", &config).unwrap();
        assert!(matches!(read_shape(&config), Err(DiscoverError::Io { .. })));
        fs::remove_file(&config).unwrap();
        File::create(&config).unwrap().set_len(CONFIG_LIMIT).unwrap();
        assert!(matches!(read_shape(&config), Err(DiscoverError::Io { .. })));
    }
}
