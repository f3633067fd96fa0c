//! A folder of its own for each test, and the real `git` in it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fleet_host::git::{DiscoverError, Repository, discover};

/// What could lead git away from the directory that it is started in.
const STRAY: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

pub(crate) struct Sandbox {
    /// Canonical, so that paths below it can be compared with what comes back.
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        Self { root: fs::canonicalize(folder.path()).unwrap(), _folder: folder }
    }

    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.join(below)
    }

    /// Makes a folder, with those above it.
    pub(crate) fn folder(&self, below: impl AsRef<Path>) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Makes a repository with one commit.
    pub(crate) fn repository(&self, below: impl AsRef<Path>) -> PathBuf {
        let path = self.folder(below);
        git(&path, &["init", "--quiet", "--initial-branch=main"]);
        git(&path, &["commit", "--quiet", "--allow-empty", "--message=start"]);
        path
    }

    /// Makes a bare repository with one commit.
    pub(crate) fn bare(&self, below: &str) -> PathBuf {
        let source = self.repository("source of the bare one");
        git(&self.root, &["clone", "--quiet", "--bare", source.to_str().unwrap(), below]);
        self.path(below)
    }

    /// Adds a linked worktree, as seen from the checkout `from`.
    pub(crate) fn worktree(&self, from: &Path, below: &str) -> PathBuf {
        let path = self.path(below);
        git(from, &["worktree", "add", "--quiet", "--detach", path.to_str().unwrap()]);
        path
    }

    /// Adds the repository `module` to the repository `main` at `libs/module`.
    pub(crate) fn submodule(main: &Path, module: &Path) -> PathBuf {
        let source = module.to_str().unwrap();
        git(
            main,
            &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "libs/module"],
        );
        git(main, &["commit", "--quiet", "--message=module"]);
        main.join("libs/module")
    }
}

/// Runs git in a folder, whatever comes of it.
pub(crate) fn try_git(folder: &Path, arguments: &[&str]) -> Output {
    prepared(folder, arguments).output().expect("git starts")
}

/// A git that is about to run in a folder.
pub(crate) fn prepared(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    for name in STRAY {
        command.env_remove(name);
    }
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(name, "/dev/null");
    }
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Test").env(format!("GIT_{role}_EMAIL"), "test@example.com");
    }
    command.current_dir(folder).args(arguments);
    command
}

/// Runs git in a folder, where it must succeed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let output = try_git(folder, arguments);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What git itself says about a place.
fn asked(place: &Path, question: &str) -> Option<PathBuf> {
    let output = try_git(place, &["rev-parse", "--path-format=absolute", question]);
    let line = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
    output.status.success().then(|| PathBuf::from(OsStr::from_bytes(line)))
}

/// What is found from a place, which must be what git says.
pub(crate) fn found(place: &Path) -> Repository {
    let repository = discover(place).expect("something to be found");
    let of_git = Repository {
        common_dir: asked(place, "--git-common-dir").expect("git finds the repository"),
        git_dir: asked(place, "--git-dir").expect("git finds the repository"),
        work_tree: asked(place, "--show-toplevel"),
    };
    assert_eq!(repository, of_git, "from {}", place.display());
    repository
}

/// Why nothing is found from a place where git finds nothing either.
pub(crate) fn refused(place: &Path) -> DiscoverError {
    let error = discover(place).expect_err("nothing to be found");
    assert_eq!(asked(place, "--git-common-dir"), None, "git finds something from {}", place.display());
    error
}
