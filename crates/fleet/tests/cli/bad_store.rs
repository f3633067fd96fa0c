//! A store that cannot be used: told as what it is, and left as it was.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use fleet_testkit::fleet::Fleet;
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;

use super::support::{World, error, fleet};

const BOUND: Duration = Duration::from_secs(40);

/// `task list` and `task add` must fail with exit code 5, this code, and this part of the message.
#[track_caller]
fn refuses(fleet: &Fleet, code: &str, part: &str) {
    for arguments in [&["task", "list", "--json"][..], &["task", "add", "x", "--json"]] {
        let (found, message, hints) = error(&fleet.fail(5, arguments));
        assert_eq!(found, code, "{message}");
        assert!(message.contains(part), "{message}");
        assert!(!hints.is_empty(), "{message}: what to do?");
    }
}

/// The same for the file `fleet.db`, which must not change, and which the doctor must see.
#[track_caller]
fn refuses_file(world: &World, code: &str, part: &str) {
    let file = world.fleet.home().join("fleet.db");
    let before = fs::read(&file).unwrap();
    refuses(&world.fleet, code, part);
    let found = world.fleet.fail(7, &["doctor"]);
    assert!(found.stdout.contains("✗ store") && found.stdout.contains(part), "{}", found.stdout);
    assert_eq!(fs::read(&file).unwrap(), before, "the file was changed");
}

#[test]
fn a_damaged_file() {
    let world = World::sqlite();
    world.add("First");
    let file = world.fleet.home().join("fleet.db");
    // Without its log, in which everything may still be.
    let _ = fs::remove_file(world.fleet.home().join("fleet.db-wal"));
    let mut bytes = fs::read(&file).unwrap();
    let length = bytes.len();
    bytes[..length / 2].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    refuses_file(&world, "store-corrupt", "not a usable codefleet store");
}

#[test]
fn a_file_of_something_else() {
    let world = World::sqlite();
    fs::write(world.fleet.home().join("fleet.db"), "Shopping list: bread, butter, beans.\n".repeat(99))
        .unwrap();
    refuses_file(&world, "store-corrupt", "not a database");
}

/// SQLite as another program would use it.
fn query(path: &Path, sql: &str) -> i64 {
    rusqlite::Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

fn sqlite(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_database_of_another_program() {
    let world = World::sqlite();
    sqlite(&world.fleet.home().join("fleet.db"), "CREATE TABLE songs (title TEXT)");
    refuses_file(&world, "store-corrupt", "a database of another program");
}

#[test]
fn a_store_of_a_newer_version() {
    let world = World::sqlite();
    world.add("First");
    let sql = "PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)";
    sqlite(&world.fleet.home().join("fleet.db"), sql);
    refuses_file(&world, "store-too-new", "schema version 999");
}

/// What is open goes on working, and no keeper could open it: a claim would only use up an attempt.
#[test]
fn a_runner_that_is_older_than_the_store_starts_nothing_and_ends() {
    let world = World::sqlite();
    let id = world.fleet.ok(&["task", "add", "-q", "Later", "--hold"]).trim_end().to_owned();
    let file = world.fleet.home().join("fleet.db");
    let mut runner = world.fleet.command(&["run"]);
    let mut runner =
        runner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(BOUND, "the runner is up", || world.fleet.json(&["status"])["runners"][0]["pid"].is_number());
    let known: i64 = query(&file, "SELECT user_version FROM pragma_user_version");
    sqlite(&file, &format!("PRAGMA user_version = {}; UPDATE tasks SET state = 'queued'", known + 1));
    wait_until(BOUND, "the runner has ended", || matches!(runner.try_wait(), Ok(Some(_))));
    let mut said = String::new();
    runner.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("a newer codefleet has updated the store"), "{said}");
    sqlite(&file, &format!("PRAGMA user_version = {known}"));
    let task = world.fleet.json(&["task", "show", &id]);
    assert_eq!((&task["state"], query(&file, "SELECT count(*) FROM runs")), (&"queued".into(), 0), "{task}");
}

/// Below a regular file nobody can make a folder, not even root.
#[test]
fn a_home_that_cannot_be_made() {
    let world = World::sqlite();
    world.repo.write("file", "");
    let fleet = world.fleet.env("FLEET_HOME", world.repo.path().join("file/home"));
    refuses(&fleet, "store-unwritable", "file/home");
    let (code, message, _) = error(&fleet.fail(1, &["config", "set", "agent", "codex", "--json"]));
    assert!(code == "io" && message.contains("file/home/config.toml"), "{message}");
    let found = fleet.fail(7, &["doctor"]);
    assert!(found.stdout.contains("✗ home"), "{}", found.stdout);
}

#[test]
fn a_server_that_refuses() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let repo = Repo::init();
    let fleet = fleet().cwd(repo.path()).env("FLEET_STORE", format!("postgres://ada:geheim@{closed}/shop"));
    refuses(&fleet, "store-unreachable", &format!("postgres://{closed}/shop: "));
    let doctor = fleet.fail(7, &["doctor"]);
    assert!(doctor.stdout.contains("cannot reach the store"), "{}", doctor.stdout);
}

#[test]
fn a_server_that_never_answers() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    // Accepted connections are kept, so that nobody hears anything. Ends with the process.
    thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok(connection) = silent.accept() {
            kept.push(connection);
        }
    });
    let repo = Repo::init();
    let store = |options: &str| format!("postgres://ada:geheim@{address}/shop{options}");
    let fleet = fleet().cwd(repo.path()).env("FLEET_STORE", store("?connect_timeout=2"));
    let begin = Instant::now();
    let (code, message, _) = error(&fleet.fail(5, &["task", "list", "--json"]));
    assert!(code == "store-unreachable" && message.contains("no answer in 2 seconds"), "{message}");
    assert!(begin.elapsed() < Duration::from_secs(20), "gave up after {:?}", begin.elapsed());

    // A runner that waits for it is ended by Ctrl-C like any other.
    let fleet = fleet.env("FLEET_STORE", store(""));
    let runner = fleet.command(&["run"]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut runner = runner.unwrap();
    let mut line = String::new();
    BufReader::new(runner.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("is up"), "{line}");
    let pid = rustix::process::Pid::from_child(&runner);
    wait_until(BOUND, "the runner has ended", || {
        // It may not listen yet.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        matches!(runner.try_wait(), Ok(Some(_)))
    });
    assert!(begin.elapsed() < Duration::from_secs(50), "{:?}", begin.elapsed());
}
