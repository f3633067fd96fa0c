//! The systemd scope of the runner, in which its keepers can make control groups.

use fleet_core::problem::Outcome;
use fleet_host::process::{self, UserSystemd};

use crate::environment::Environment;
use crate::keeper::blocking;

/// Enters a scope of the user's systemd, where that is needed and possible. Everything works without one.
pub(super) async fn enter(environment: &Environment) -> Outcome<()> {
    let Some(systemd) = systemd(environment) else { return Ok(()) };
    blocking(move || process::enter_scope(&systemd)).await.map(drop)
}

fn systemd(environment: &Environment) -> Option<UserSystemd> {
    let user = environment.get_os("USER").or_else(|| environment.get_os("LOGNAME"))?;
    let busctl = environment.find_program("busctl")?;
    Some(UserSystemd::of(user, busctl, environment.get_os("XDG_RUNTIME_DIR")))
}
