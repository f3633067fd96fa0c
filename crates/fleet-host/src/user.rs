//! Who runs this process.

use nix::unistd::{User, getuid};

/// The name of the user, as the system knows it.
pub fn user_name() -> Option<String> {
    User::from_uid(getuid()).ok().flatten().map(|user| user.name)
}
