//! Finding the repository that a directory belongs to.
//!
//! Reads a few files and starts no process: every `fleet` command asks this first, and starting `git` alone would
//! cost more time than the whole command may take.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::gitdir::{GitDir, is_absence, look};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The directory with the objects and branches; absolute and canonical. It identifies the project: all
    /// worktrees share it, while a submodule has its own.
    pub common_dir: PathBuf,
    /// The directory with `HEAD` and the index of this checkout; absolute and canonical. Equal to `common_dir`
    /// except in a linked worktree.
    pub git_dir: PathBuf,
    /// The root of the checkout that contains the directory; absolute and canonical. `None` in a bare repository
    /// and inside of a git directory.
    pub work_tree: Option<PathBuf>,
}

impl Repository {
    /// Whether the repository itself knows this checkout: it is the main one, with the git directory in it, or a linked
    /// worktree to which the repository points back. Anyone can make a `.git` file that names a repository.
    pub fn is_registered(&self) -> bool {
        let Some(work_tree) = &self.work_tree else { return self.git_dir == self.common_dir };
        let link = work_tree.join(".git");
        if self.git_dir == self.common_dir {
            return fs::symlink_metadata(&link).is_ok_and(|found| found.is_dir())
                && fs::canonicalize(&link).is_ok_and(|found| found == self.common_dir);
        }
        let is_below = self.git_dir.parent() == Some(self.common_dir.join("worktrees").as_path());
        let back = fs::read(self.git_dir.join("gitdir")).unwrap_or_default();
        let back = Path::new(OsStr::from_bytes(back.trim_ascii_end()));
        // Relative to the folder that it is in, where `worktree.useRelativePaths` is set.
        is_below && fs::canonicalize(self.git_dir.join(back)).ok() == fs::canonicalize(&link).ok()
    }

    /// What to call the project: the directory name of its main checkout, or of a bare repository without `.git`.
    ///
    /// Depends on `common_dir` alone, so that a project has one name in all its checkouts. The price is that a
    /// checkout made with `--separate-git-dir` is called like its git directory, which does not know the checkout.
    pub fn display_name(&self) -> String {
        let holder = match self.common_dir.file_name() {
            // `.bare` is what people call the repository in a folder that is there to hold its worktrees.
            Some(name) if name == ".git" || name == ".bare" => self.common_dir.parent(),
            _ => None,
        };
        let named = holder.unwrap_or(&self.common_dir);
        let name = named.file_name().unwrap_or(named.as_os_str()).to_string_lossy();
        if holder.is_some() {
            name.into_owned()
        } else {
            name.strip_suffix(".git").unwrap_or(&name).to_owned()
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    #[error("{} is not in a git repository (searched up to {})", .start.display(), .searched_to.display())]
    NotARepository {
        start: PathBuf,
        /// The last directory that was looked at: the root, or the mount point where the search had to stop.
        searched_to: PathBuf,
    },
    #[error("there is no directory {}", .start.display())]
    NoSuchDirectory { start: PathBuf },
    #[error("{} is not a directory", .start.display())]
    NotADirectory { start: PathBuf },
    /// A `.git` or `commondir` file points to something that is no git directory.
    #[error("{} points to {}, which is not a git directory", .file.display(), .target.display())]
    BrokenGitFile { file: PathBuf, target: PathBuf },
    #[error("{} does not say where the git directory is", .file.display())]
    InvalidGitFile { file: PathBuf },
    #[error("cannot read {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl DiscoverError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// Finds the repository that the directory `start` belongs to, by git's own rules.
///
/// From `start` upwards, the first directory counts that has a valid `.git` (a directory, or a file that points to
/// one, as in linked worktrees and submodules) or is a git directory itself. A `.git` directory that is not valid
/// is passed over; a `.git` file that leads nowhere is an error. As in git, the search ends at a mount point.
///
/// Deliberately not consulted:
/// - the environment (`GIT_DIR`, `GIT_CEILING_DIRECTORIES` and so on), so that a command run from a git hook, which
///   sets `GIT_DIR`, still finds the repository of the directory it is asked about;
/// - `core.worktree`, which moves the checkout but not the identity of the repository;
/// - `safe.directory` and `safe.bareRepository`: git refuses on its own when it is started there.
pub fn discover(start: &Path) -> Result<Repository, DiscoverError> {
    let start = canonical_start(start)?;
    let device = device_of(&start)?;
    let mut searched_to = start.as_path();
    for directory in start.ancestors() {
        if device_of(directory)? != device {
            break;
        }
        if let Some(repository) = repository_at(directory)? {
            return Ok(repository);
        }
        searched_to = directory;
    }
    let searched_to = searched_to.to_owned();
    Err(DiscoverError::NotARepository { start, searched_to })
}

fn canonical_start(start: &Path) -> Result<PathBuf, DiscoverError> {
    let canonical = fs::canonicalize(start).map_err(|error| {
        if is_absence(&error) {
            DiscoverError::NoSuchDirectory { start: start.to_owned() }
        } else {
            DiscoverError::io(start)(error)
        }
    })?;
    match look(&canonical, fs::metadata)? {
        Some(metadata) if metadata.is_dir() => Ok(canonical),
        Some(_) => Err(DiscoverError::NotADirectory { start: start.to_owned() }),
        None => Err(DiscoverError::NoSuchDirectory { start: start.to_owned() }),
    }
}

fn device_of(directory: &Path) -> Result<u64, DiscoverError> {
    fs::metadata(directory).map(|metadata| metadata.dev()).map_err(DiscoverError::io(directory))
}

/// The repository whose checkout has its root here, or that is itself here.
fn repository_at(directory: &Path) -> Result<Option<Repository>, DiscoverError> {
    let dot_git = directory.join(".git");
    let held = match look(&dot_git, fs::metadata)? {
        Some(metadata) if metadata.is_file() => Some(GitDir::follow(&dot_git)?),
        Some(metadata) if metadata.is_dir() => GitDir::open(&dot_git)?,
        _ => None,
    };
    if let Some(git_dir) = held {
        let work_tree = (!git_dir.is_bare()?).then(|| directory.to_owned());
        return Ok(Some(Repository { common_dir: git_dir.common, git_dir: git_dir.own, work_tree }));
    }
    let itself = GitDir::open(directory)?;
    Ok(itself.map(|git_dir| Repository { common_dir: git_dir.common, git_dir: git_dir.own, work_tree: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(common_dir: &str) -> String {
        let common_dir = PathBuf::from(common_dir);
        Repository { git_dir: common_dir.clone(), common_dir, work_tree: None }.display_name()
    }

    #[test]
    fn a_project_is_called_like_its_main_checkout_or_its_bare_repository() {
        assert_eq!(name_of("/code/shop/.git"), "shop");
        assert_eq!(name_of("/code/shop.git/.git"), "shop.git");
        assert_eq!(name_of("/srv/shop.git"), "shop");
        assert_eq!(name_of("/srv/shop"), "shop");
        assert_eq!(name_of("/code/shop/.bare"), "shop");
        assert_eq!(name_of("/code/shop/.git/modules/libs/tls"), "tls");
        assert_eq!(name_of("/.git"), "/");
    }

    #[test]
    fn messages_name_the_places() {
        let broken = DiscoverError::BrokenGitFile { file: "/a/.git".into(), target: "/gone".into() };
        assert_eq!(broken.to_string(), "/a/.git points to /gone, which is not a git directory");
        let outside = DiscoverError::NotARepository { start: "/a/b".into(), searched_to: "/".into() };
        assert_eq!(outside.to_string(), "/a/b is not in a git repository (searched up to /)");
    }
}
