//! Real repositories of an agent that does as it likes.

mod forged;
mod kinds;
mod reading;
mod taking;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{ForeignGitDir, Take, TakeError, take};
use crate::git::oid::Oid;

/// A user's repository, our vault that borrows from it, and a work tree with a repository of the agent's.
struct World {
    root: PathBuf,
    base: Oid,
    _folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self::with_format("sha1")
    }

    fn with_format(format: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("user");
        init(&user, &[&format!("--object-format={format}")]);
        write(&user, "README.md", "# project\n");
        write(&user, "src/main.rs", "fn main() {}\n");
        commit(&user, "base");
        Self::around(folder, format)
    }

    /// A vault and a work tree for a user's repository that is there.
    fn around(folder: tempfile::TempDir, format: &str) -> Self {
        let root = fs::canonicalize(folder.path()).unwrap();
        let base = oid(&root.join("user"), "HEAD");
        let world = Self { root, base, _folder: folder };
        let format = format!("--object-format={format}");
        init(&world.vault(), &["--bare", &format]);
        init(&world.work(), &[&format]);
        let user = world.user().join(".git");
        lend(&world.vault(), &[&user]);
        lend(&world.work().join(".git"), &[&world.vault(), &user]);
        for own in [world.vault(), world.work().join(".git")] {
            let _ = fs::copy(user.join("shallow"), own.join("shallow"));
        }
        git(&world.work(), &["reset", "--quiet", "--hard", world.base.as_str()]);
        world
    }

    fn user(&self) -> PathBuf {
        self.root.join("user")
    }

    fn vault(&self) -> PathBuf {
        self.root.join("vault")
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn git_dir(&self) -> PathBuf {
        self.work().join(".git")
    }

    fn foreign(&self) -> ForeignGitDir {
        ForeignGitDir::of(&self.work()).unwrap()
    }

    /// Takes a tip, with the base as the only known commit.
    fn take(&self, tip: &Oid) -> Result<(), TakeError> {
        self.take_beyond(std::slice::from_ref(tip), std::slice::from_ref(&self.base))
    }

    fn take_beyond(&self, tips: &[Oid], known: &[Oid]) -> Result<(), TakeError> {
        let staged = self.foreign().stage(&self.vault()).unwrap();
        take(&self.vault(), &Take { staged: Some(&staged), tips, known })
    }

    /// Why a tip is refused. Nothing of it may be left in the vault.
    #[track_caller]
    fn refused(&self, tip: &Oid) -> String {
        let before = files(&self.vault());
        let why = match self.take(tip) {
            Err(TakeError::Refused { why }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(files(&self.vault()), before);
        why
    }

    /// Whether the vault has an object, without what the user's repository has.
    fn owns(&self, object: &Oid) -> bool {
        let alternates = self.vault().join("objects/info/alternates");
        let hidden = self.root.join("alternates");
        fs::rename(&alternates, &hidden).unwrap();
        let has = try_git(&self.vault(), &["cat-file", "-e", object.as_str()]);
        fs::rename(&hidden, &alternates).unwrap();
        has
    }
}

fn init(at: &Path, options: &[&str]) {
    fs::create_dir_all(at).unwrap();
    git(at, &[&["init", "--quiet", "--initial-branch=main"], options].concat());
    git(at, &["config", "gc.auto", "0"]);
    git(at, &["config", "maintenance.auto", "false"]);
}

fn lend(to: &Path, from: &[&Path]) {
    let lines: Vec<_> = from.iter().map(|dir| dir.join("objects").display().to_string()).collect();
    fs::create_dir_all(to.join("objects/info")).unwrap();
    fs::write(to.join("objects/info/alternates"), lines.join("\n") + "\n").unwrap();
}

/// Writes a file, with the folders above it.
fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, content).unwrap();
}

/// Commits all files.
#[track_caller]
fn commit(at: &Path, message: &str) -> Oid {
    git(at, &["add", "--all"]);
    git(at, &["commit", "--quiet", "--allow-empty", "--message", message]);
    oid(at, "HEAD")
}

#[track_caller]
fn oid(at: &Path, rev: &str) -> Oid {
    Oid::parse(&git(at, &["rev-parse", rev])).unwrap()
}

#[track_caller]
fn git(at: &Path, arguments: &[&str]) -> String {
    git_with(at, arguments, b"")
}

/// Runs git, which must succeed, with this input.
#[track_caller]
fn git_with(at: &Path, arguments: &[&str], input: &[u8]) -> String {
    String::from_utf8_lossy(&output(at, arguments, input)).trim_end().to_owned()
}

#[track_caller]
fn output(at: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = command(at, arguments).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn try_git(at: &Path, arguments: &[&str]) -> bool {
    command(at, arguments).output().unwrap().status.success()
}

#[expect(clippy::disallowed_methods, reason = "tests do what an agent does")]
fn command(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null"), ("LC_ALL", "C")]);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Test").env(format!("GIT_{role}_EMAIL"), "test@example.com");
    }
    command.current_dir(at).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// All files below a folder, in order.
fn files(at: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![at.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[expect(clippy::disallowed_methods, reason = "tests do what an agent does")]
fn pipe(at: &Path) {
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}
