//! Which of our variables git and other programs that we ask get.
//!
//! Owns the list. Every process of the same user can read the environment of a running git, agents included, so git gets
//! what it needs and nothing else: never a password of the store, never a token that happens to be in a shell.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Patterns are names, or beginnings of names with a `*` at the end.
type VariablePatterns = &'static [&'static str];

/// Who and where one is, and what a person sets for git on purpose. What points git at one repository is not among them:
/// a surrounding git, for instance one whose hook started us, leaves that behind.
const ALWAYS: VariablePatterns = &[
    "DYLD_LIBRARY_PATH",
    "EMAIL",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_KEY_*",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_VALUE_*",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE*",
    "HOME",
    "LANG",
    "LC_*",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// How to reach a remote.
const NETWORK: VariablePatterns = &[
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_HTTP_*",
    "GIT_LFS_*",
    "GIT_PROTOCOL*",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_*",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "KRB5CCNAME",
    "NIX_SSL_CERT_FILE",
    "NO_PROXY",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "XDG_RUNTIME_DIR",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Where `git` is: by its path, a process is started without copying this one. The name alone, if it is not to be found.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub(crate) fn git() -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join("git"))
        .find(|path| path.is_absolute() && is_program(path));
    found.unwrap_or_else(|| "git".into())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The variables of this process that a git without network access gets.
pub(crate) fn local() -> impl Iterator<Item = (OsString, OsString)> {
    passing(&[ALWAYS])
}

/// What a git gets that may reach a remote, by itself or by a filter.
pub(crate) fn with_network() -> impl Iterator<Item = (OsString, OsString)> {
    passing(&[ALWAYS, NETWORK])
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the home of processes, and says what they inherit"
)]
fn passing(lists: &'static [VariablePatterns]) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(move |(name, _)| name.to_str().is_some_and(|name| is_in(lists, name)))
}

fn is_in(lists: &[VariablePatterns], name: &str) -> bool {
    lists.iter().flat_map(|list| list.iter()).any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => *pattern == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_gets_what_it_needs_and_no_secret_of_ours() {
        let (here, far) = (&[ALWAYS][..], &[ALWAYS, NETWORK][..]);
        for name in ["PATH", "HOME", "LC_CTYPE", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME", "GIT_CONFIG_VALUE_0"]
        {
            assert!(is_in(here, name) && is_in(far, name), "{name}");
        }
        for name in ["SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "https_proxy"] {
            assert!(!is_in(here, name) && is_in(far, name), "{name}");
        }
        let never =
            ["FLEET_STORE", "FLEET_SETTINGS", "FLEET_HOME", "MY_CLOUD_TOKEN", "GITHUB_TOKEN", "GIT_TOKEN"];
        let stray = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS"];
        for name in never.into_iter().chain(stray) {
            assert!(!is_in(far, name), "{name}");
        }
    }
}
