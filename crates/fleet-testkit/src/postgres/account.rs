//! Whose account the server runs in. PostgreSQL refuses to run as root, and containers often have nobody
//! else.

use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::geteuid;

/// Accounts that exist for such purposes, the better one first.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// Whoever runs the tests.
    Own,
    /// Another one, because whoever runs the tests is root.
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// None if this is root and no account is fit.
    pub(super) fn choose() -> Option<Self> {
        if geteuid().is_root() { CANDIDATES.into_iter().find_map(Self::named) } else { Some(Self::Own) }
    }

    /// Asks `id`, which knows all sources of accounts; reading `/etc/passwd` would know one.
    fn named(name: &str) -> Option<Self> {
        let number = |option: &str| {
            let output = Command::new("id").args([option, name]).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse().ok()
        };
        Some(Self::Other { uid: number("-u")?, gid: number("-g")? })
    }

    /// Gives a directory to the account.
    pub(super) fn own(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid } => chown(path, Some(uid), Some(gid)),
        }
    }

    /// Lets a command run in the account.
    pub(super) fn apply(self, command: &mut Command) {
        if let Self::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_known_by_name() {
        assert_eq!(Account::named("root"), Some(Account::Other { uid: 0, gid: 0 }));
        assert_eq!(Account::named("no-such-account"), None);
    }
}
