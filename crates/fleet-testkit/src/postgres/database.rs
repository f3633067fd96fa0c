//! One database of one test.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::binaries::Binaries;
use super::command;

/// A database that nobody else uses; dropped, with whoever is still connected, when this is.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: String,
    server_url: String,
}

impl Database {
    /// On the server that `server_url` leads to.
    #[track_caller]
    pub(super) fn create(server_url: &str) -> Self {
        let name = unique_name();
        let url =
            with_name(server_url, &name).unwrap_or_else(|| panic!("not the URL of a database: {server_url}"));
        // template0 is as the server's makers left it, and nobody can be connected to it, which would be in
        // the way.
        let made = psql(server_url, &format!("CREATE DATABASE {name} TEMPLATE template0"));
        made.unwrap_or_else(|error| panic!("cannot make a test database: {error}"));
        Self { name, url, server_url: server_url.to_owned() }
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Only to save space: the server goes in the end, and may already be gone.
        let _ = psql(&self.server_url, &format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

fn psql(url: &str, sql: &str) -> Result<(), String> {
    let binaries = Binaries::find().ok_or("psql not found")?;
    let mut psql = command(binaries.program("psql"));
    psql.args([
        "--no-psqlrc",
        "--quiet",
        "--no-password",
        "--set=ON_ERROR_STOP=1",
        "--dbname",
        url,
        "--command",
        sql,
    ]);
    let output = psql.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Unique among all processes that share a server, even if they do not share a numbering of processes.
fn unique_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("test_{}_{:x}_{count}", process::id(), now.as_nanos())
}

/// The same URL with another database; none if it has no scheme.
fn with_name(url: &str, name: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (location, parameters) =
        rest.split_once('?').map_or((rest, None), |(left, right)| (left, Some(right)));
    let authority = location.split_once('/').map_or(location, |(authority, _)| authority);
    let parameters = parameters.map(|text| format!("?{text}")).unwrap_or_default();
    Some(format!("{scheme}://{authority}/{name}{parameters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_changes_in_a_url() {
        let cases = [
            ("postgresql:///postgres?host=/tmp/x&user=fleet", "postgresql:///new?host=/tmp/x&user=fleet"),
            ("postgres://me:secret@db.example:5433/admin", "postgres://me:secret@db.example:5433/new"),
            ("postgres://db.example", "postgres://db.example/new"),
        ];
        for (from, to) in cases {
            assert_eq!(with_name(from, "new").as_deref(), Some(to));
        }
        assert_eq!(with_name("host=/tmp dbname=x", "new"), None);
    }

    #[test]
    fn names_differ() {
        assert_ne!(unique_name(), unique_name());
        assert!(unique_name().len() <= 63, "PostgreSQL would cut it off");
    }
}
