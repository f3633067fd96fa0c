//! The life of a throw-away server.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

use super::account::Account;
use super::binaries::Binaries;
use super::database::Database;
use super::{PROGRAMS, command};
use crate::wait::becomes_true;

const GUARDIAN: &str = include_str!("guardian.sh");
const SUPERUSER: &str = "fleet";

/// `initdb` and the first start take about a second; a busy machine may need many.
const START_BOUND: Duration = Duration::from_mins(2);

/// Longer than the guardian's own patience with the server.
const STOP_BOUND: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub struct Options {
    /// Whether a commit reaches the disk. On by default, because tests of durability and benchmarks rely on
    /// it.
    pub fsync: bool,
    /// How many clients there can be at once.
    pub max_connections: u32,
    /// Where the private directory is made. `/tmp` by default, whatever `TMPDIR` says: the path of a unix
    /// socket must be shorter than about 100 bytes, and another account must be able to reach it.
    pub parent: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self { fsync: true, max_connections: 400, parent: "/tmp".into() }
    }
}

impl Options {
    /// As arguments of `postgres`; the socket is the only way in.
    fn arguments(&self, socket_dir: &Path) -> Vec<String> {
        let fsync = if self.fsync { "on" } else { "off" };
        let settings = [
            ("listen_addresses", String::new()),
            ("unix_socket_directories", socket_dir.display().to_string()),
            ("max_connections", self.max_connections.to_string()),
            ("fsync", fsync.to_owned()),
            ("shared_buffers", "64MB".to_owned()),
            ("max_wal_size", "256MB".to_owned()),
            ("wal_level", "minimal".to_owned()),
            ("max_wal_senders", "0".to_owned()),
            ("cluster_name", "fleet-test".to_owned()),
        ];
        settings.into_iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]).collect()
    }
}

#[derive(Debug, Error)]
pub enum StartError {
    #[error("no PostgreSQL server found: no directory has {}", PROGRAMS.join(", "))]
    NoBinaries,
    /// This is root, as which PostgreSQL refuses to run, and there is no account to run it as.
    #[error("PostgreSQL does not run as root, and there is neither an account `postgres` nor `nobody`")]
    NoAccount,
    /// The private directory or the guardian could not be made.
    #[error("cannot prepare a PostgreSQL server: {0}")]
    Prepare(#[from] io::Error),
    /// The server ended at once, or was not ready in time.
    #[error("the PostgreSQL server did not start; its log says:\n{log}")]
    Failed {
        /// What `initdb` and the server said.
        log: String,
    },
}

/// A private PostgreSQL server. Dropping it stops it and removes its directory.
///
/// It is the child of a guardian, a small shell script that ends it once the pipe from here is closed, so
/// that it does not outlive this process even if that is killed, or never drops it.
#[derive(Debug)]
pub struct Server {
    dir: PathBuf,
    guardian: Child,
}

impl Server {
    /// Starts one with the default [`Options`]; panics with its log if that fails.
    #[track_caller]
    pub fn start() -> Self {
        Self::launch(&Options::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts one and waits until it takes connections.
    pub fn launch(options: &Options) -> Result<Self, StartError> {
        let binaries = Binaries::find().ok_or(StartError::NoBinaries)?;
        let account = Account::choose().ok_or(StartError::NoAccount)?;
        let server = Self::spawn(options, &binaries, account)?;
        becomes_true(START_BOUND, || server.is_ready() || server.dir.join("ended").exists());
        if server.is_ready() { Ok(server) } else { Err(StartError::Failed { log: server.log() }) }
    }

    fn spawn(options: &Options, binaries: &Binaries, account: Account) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("fleet-pg.").permissions(Permissions::from_mode(0o700));
        let dir = builder.tempdir_in(&options.parent)?;
        account.own(dir.path())?;
        let log = File::create(dir.path().join("log"))?;
        // From a file, not by -c, so that a list of processes stays readable.
        let script = dir.path().join("guardian.sh");
        fs::write(&script, GUARDIAN)?;
        account.own(&script)?;
        let mut guardian = command("/bin/sh");
        guardian
            .arg(script)
            .args([binaries.dir(), dir.path(), Path::new(SUPERUSER)])
            .args(options.arguments(dir.path()));
        // Out of the reach of Ctrl-C and of whoever kills the group of the owner: it must outlive the owner
        // to clean up.
        guardian.process_group(0).current_dir(dir.path());
        guardian.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        account.apply(&mut guardian);
        let guardian = guardian.spawn()?;
        // From here on the guardian removes the directory.
        Ok(Self { dir: dir.keep(), guardian })
    }

    /// Stops the server, whatever its clients are doing, starts it again, and waits until it takes connections.
    #[track_caller]
    pub fn restart(&self) {
        self.restart_after(|| {});
    }

    /// The same, with something to do while the server is away, for a minute at most.
    #[track_caller]
    pub fn restart_after(&self, meanwhile: impl FnOnce()) {
        let (before, away) = (self.pid(), self.dir.join("away"));
        fs::write(&away, "").expect("the directory of the server");
        let mut pipe = self.guardian.stdin.as_ref().expect("the pipe is open until the drop");
        pipe.write_all(b"again\n").expect("the guardian reads");
        assert!(becomes_true(STOP_BOUND, || self.pid().is_none()), "the server did not end:\n{}", self.log());
        meanwhile();
        fs::remove_file(&away).expect("the directory of the server");
        becomes_true(START_BOUND, || {
            (self.pid() != before && self.is_ready()) || self.dir.join("ended").exists()
        });
        assert!(self.pid() != before && self.is_ready(), "the server did not start again:\n{}", self.log());
    }

    /// A fresh, empty database on this server.
    #[track_caller]
    pub fn database(&self) -> Database {
        Database::create(&self.url())
    }

    /// The URL of a database of this server that always exists, to make others from.
    pub fn url(&self) -> String {
        format!("postgresql:///postgres?host={}&user={SUPERUSER}", encode(&self.dir))
    }

    /// The private directory, which holds the data, the socket and the log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The process of the server; none once it has ended.
    pub fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.status_file()?.lines().next()?.parse().ok()?)
    }

    pub fn log(&self) -> String {
        let bytes = fs::read(self.dir.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The eighth line of the file is the state, as `pg_ctl` reads it; asking the socket would need a client.
    fn is_ready(&self) -> bool {
        self.status_file()
            .is_some_and(|text| text.lines().nth(7).is_some_and(|state| state.trim() == "ready"))
    }

    fn status_file(&self) -> Option<String> {
        fs::read_to_string(self.dir.join("data/postmaster.pid")).ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        if !becomes_true(STOP_BOUND, || matches!(self.guardian.try_wait(), Ok(Some(_)))) {
            // The group holds the guardian and the server. Nothing more can be done if this fails too.
            let _ = kill_process_group(Pid::from_child(&self.guardian), Signal::KILL);
            let _ = self.guardian.wait();
        }
        // The guardian did this already, unless it was killed or its account may not write to the parent
        // directory.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// As the value of a parameter in a URL.
fn encode(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let one = |byte: &u8| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    path.as_os_str().as_encoded_bytes().iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_directories_survive_in_a_url() {
        assert_eq!(encode(Path::new("/tmp/fleet-pg.a_1")), "/tmp/fleet-pg.a_1");
        assert_eq!(encode(Path::new("/a b&c/é")), "/a%20b%26c/%C3%A9");
    }
}
