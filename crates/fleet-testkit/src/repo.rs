//! Throw-away git repositories: real git, but none of the developer's configuration.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

/// The same author and the same second for every commit, so that the same content has the same hash in every
/// run.
const ENVIRONMENT: [(&str, &str); 10] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_AUTHOR_NAME", NAME),
    ("GIT_AUTHOR_EMAIL", EMAIL),
    ("GIT_AUTHOR_DATE", DATE),
    ("GIT_COMMITTER_NAME", NAME),
    ("GIT_COMMITTER_EMAIL", EMAIL),
    ("GIT_COMMITTER_DATE", DATE),
    ("LC_ALL", "C"),
];
const NAME: &str = "Test Author";
const EMAIL: &str = "test@example.com";
const DATE: &str = "2026-01-01T00:00:00Z";

/// A git repository in its own directory, removed on drop.
#[derive(Debug)]
pub struct Repo {
    dir: TempDir,
}

impl Repo {
    /// A repository with branch `main` and one commit, which holds `README.md`.
    pub fn init() -> Self {
        let repo = Self { dir: tempfile::tempdir().expect("a temporary directory") };
        repo.git(&["-c", "init.defaultBranch=main", "init", "--quiet"]);
        // Into the repository's own configuration, because the program under test runs git without our
        // environment.
        repo.git(&["config", "user.name", NAME]);
        repo.git(&["config", "user.email", EMAIL]);
        // Automatic maintenance would run in the background while the directory is being removed.
        repo.git(&["config", "gc.auto", "0"]);
        repo.git(&["config", "maintenance.auto", "false"]);
        repo.write("README.md", "# test\n");
        repo.commit("first");
        repo
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs git here and returns what it printed, without the final newline. Panics with its stderr on
    /// failure.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        git_at(self.path(), args)
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        let parent = path.parent().expect("a file has a directory");
        fs::create_dir_all(parent).expect("directories can be made in the repository");
        fs::write(&path, text).expect("files can be written in the repository");
    }

    /// Commits everything there is in the work tree, even if nothing changed, and returns the hash.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits a submodule whose server accepts connections and never answers.
    pub fn add_hanging_submodule(&self) -> TcpListener {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("git://{}/module", server.local_addr().expect("it has an address"));
        self.write(".gitmodules", format!("[submodule \"m\"]\n\tpath = m\n\turl = {url}\n"));
        let commit = self.git(&["rev-parse", "HEAD"]);
        self.git(&["add", ".gitmodules"]);
        self.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},m")]);
        self.git(&["commit", "--quiet", "--message=module"]);
        server
    }
}

/// Runs git in a directory and returns what it printed, without the final newline. Panics with its stderr on failure.
#[track_caller]
pub(crate) fn git_at(dir: &Path, args: &[&str]) -> String {
    ask_git(dir, args).unwrap_or_else(|why| panic!("git {args:?} failed {why}"))
}

/// The same, but `None` on failure.
pub fn try_git_at(dir: &Path, args: &[&str]) -> Option<String> {
    ask_git(dir, args).ok()
}

fn ask_git(dir: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(args).current_dir(dir);
    isolate(&mut command);
    let output = command.output().expect("git can be started");
    if !output.status.success() {
        return Err(format!("({}): {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let stdout = String::from_utf8(output.stdout).expect("git printed UTF-8");
    Ok(stdout.trim_end_matches('\n').to_owned())
}

/// Without the developer's configuration, and without the `GIT_DIR` and the like that git gives to hooks: a
/// test run started from a hook would otherwise work on the developer's repository.
fn isolate(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command.envs(ENVIRONMENT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_one_commit_on_main_and_a_clean_tree() {
        let repo = Repo::init();
        assert_eq!(repo.git(&["rev-list", "--count", "main"]), "1");
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        assert_eq!(
            repo.git(&["log", "-1", "--format=%an %ae %aI"]),
            "Test Author test@example.com 2026-01-01T00:00:00Z"
        );
    }

    #[test]
    fn same_content_has_the_same_hash() {
        let hash = || {
            let repo = Repo::init();
            repo.write("src/deep/file.txt", "text");
            repo.commit("second")
        };
        assert_eq!(hash(), hash());
    }

    #[test]
    #[should_panic(expected = "not a git command")]
    fn panics_with_what_git_said() {
        Repo::init().git(&["no-such-verb"]);
    }
}
