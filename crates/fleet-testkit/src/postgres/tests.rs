//! The promises of the server: private, separate, and never left behind.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::{Pid, test_kill_process};
use tokio_postgres::config::{Config, Host};

use super::*;
use crate::wait_until;

const BOUND: Duration = Duration::from_mins(1);

fn query(url: &str, sql: &str) -> String {
    let psql = Binaries::find().unwrap().program("psql");
    let output = command(psql)
        .args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn wait_until_gone(pid: Pid, dir: &Path) {
    wait_until(BOUND, "the server's process has ended", || test_kill_process(pid).is_err());
    wait_until(BOUND, "the server's directory is gone", || !dir.exists());
}

#[test]
fn a_server_is_private_and_durable_and_gone_after_drop() {
    let server = Server::start();
    assert_eq!(fs::metadata(server.dir()).unwrap().permissions().mode() & 0o777, 0o700);
    let show = |setting: &str| query(&server.url(), &format!("SHOW {setting}"));
    assert_eq!(show("listen_addresses"), "");
    assert_eq!(show("fsync"), "on");
    assert_eq!(show("max_connections"), "400");
    assert_eq!(show("server_encoding"), "UTF8");
    assert_eq!(show("lc_collate"), "C");
    let (pid, dir) = (server.pid().unwrap(), server.dir().to_owned());
    drop(server);
    assert!(test_kill_process(pid).is_err(), "the drop waits for the end");
    assert!(!dir.exists());
}

#[test]
fn two_databases_are_separate_and_empty_and_dropped() {
    let server = Server::start();
    let (one, two) = (server.database(), server.database());
    query(one.url(), "CREATE TABLE t (x int)");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(query(one.url(), tables), "1");
    assert_eq!(query(two.url(), tables), "0");
    drop((one, two));
    assert_eq!(query(&server.url(), "SELECT count(*) FROM pg_database WHERE datname LIKE 'test%'"), "0");
}

#[test]
fn a_restarted_server_has_kept_everything() {
    let server = Server::start();
    let database = server.database();
    query(database.url(), "CREATE TABLE t (x int)");
    for _ in 0..2 {
        let before = server.pid();
        server.restart();
        assert_ne!(server.pid(), before);
        assert_eq!(query(database.url(), "SELECT count(*) FROM t"), "0");
    }
    drop(database);
    let (pid, dir) = (server.pid().unwrap(), server.dir().to_owned());
    drop(server);
    assert!(test_kill_process(pid).is_err() && !dir.exists());
}

#[test]
fn the_shared_server_gives_fresh_databases() {
    let (one, two) = (database(), database());
    assert_ne!(query(one.url(), "SELECT current_database()"), query(two.url(), "SELECT current_database()"));
}

#[test]
fn the_driver_of_the_store_reads_the_url() {
    let server = Server::start();
    let database = server.database();
    let config: Config = database.url().parse().unwrap();
    assert_eq!(config.get_hosts(), [Host::Unix(server.dir().to_owned())]);
    assert_eq!(config.get_user(), Some("fleet"));
    assert_eq!(config.get_dbname(), Some(query(database.url(), "SELECT current_database()").as_str()));
}

#[test]
fn a_failed_start_tells_why_and_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let options =
        Options { max_connections: u32::MAX, parent: parent.path().to_owned(), ..Options::default() };
    let error = Server::launch(&options).unwrap_err().to_string();
    assert!(error.contains("max_connections"), "{error}");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

/// In the child that this test makes of its own executable: where to write what the parent has to watch.
const OWNER_VARIABLE: &str = "FLEET_TESTKIT_OWNER_REPORT";

#[test]
fn a_server_is_gone_after_its_owner_was_killed() {
    if let Some(report) = env::var_os(OWNER_VARIABLE) {
        own_a_server(Path::new(&report));
    }
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report");
    let mut owner = command(env::current_exe().unwrap())
        .args(["--exact", "postgres::tests::a_server_is_gone_after_its_owner_was_killed"])
        .env(OWNER_VARIABLE, &report)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(BOUND * 2, "the owner has a server", || report.exists());
    let text = fs::read_to_string(&report).unwrap();
    let (pid, server_dir) = text.split_once(' ').unwrap();
    let (pid, server_dir) = (Pid::from_raw(pid.parse().unwrap()).unwrap(), PathBuf::from(server_dir));
    assert!(test_kill_process(pid).is_ok() && server_dir.exists());
    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_until_gone(pid, &server_dir);
}

/// Bounded, so that it does not stay for ever should the parent die.
fn own_a_server(report: &Path) -> ! {
    let server = Server::start();
    let draft = report.with_extension("draft");
    fs::write(&draft, format!("{} {}", server.pid().unwrap().as_raw_nonzero(), server.dir().display()))
        .unwrap();
    fs::rename(draft, report).unwrap();
    let start = Instant::now();
    while start.elapsed() < BOUND {
        thread::sleep(BOUND);
    }
    process::exit(1);
}
