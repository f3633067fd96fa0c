//! A real PostgreSQL server for tests, private to them and gone with them.
//!
//! Owns where the programs of PostgreSQL are found, the life of a throw-away [`Server`] and the fresh
//! [`Database`] that each test gets. Must never reach a server that the developer runs: there is only a unix
//! socket in a private directory, and the `PG…` variables of the environment are kept from every program that
//! is started here.

mod account;
mod binaries;
mod database;
mod server;
#[cfg(test)]
mod tests;

use std::process::Command;
use std::sync::OnceLock;
use std::{env, ffi};

pub use binaries::{Binaries, PROGRAMS};
pub use database::Database;
pub use server::{Options, Server, StartError};

/// Names the server on which [`database`] makes its databases, by a URL of a database on it whose user may
/// create more.
///
/// `cargo xtask test` sets it: with one process for each test there would otherwise be one server for each
/// test.
pub const SERVER_VARIABLE: &str = "FLEET_TEST_POSTGRES";

/// A fresh, empty database: on the server named by [`SERVER_VARIABLE`], or else on one that all tests of this
/// process share.
///
/// Nobody drops the shared one, because statics are not dropped. It ends with the process all the same: see
/// [`Server`].
#[track_caller]
pub fn database() -> Database {
    static SHARED: OnceLock<Server> = OnceLock::new();
    match env::var(SERVER_VARIABLE) {
        Ok(url) if !url.is_empty() => Database::create(&url),
        _ => SHARED.get_or_init(Server::start).database(),
    }
}

/// A command that knows nothing of the `PG…` variables with which a developer points at a database of their
/// own.
fn command(program: impl AsRef<ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"PG") {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").env("TZ", "UTC");
    command
}
