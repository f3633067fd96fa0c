//! How things are started, and why they are not.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use fleet_host::process::{
    Detached, Exit, Launch, LaunchError, Signal, StdinFrom, launch, reap, spawn_detached,
};
use fleet_testkit::wait_until;

use crate::BOUND;

/// One test at a time asks who has ended.
pub(crate) static REAPING: Mutex<()> = Mutex::new(());

pub(crate) fn shell(script: &str) -> Launch {
    Launch {
        program: "sh".into(),
        args: ["-c", script].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        stdin: StdinFrom::Null,
    }
}

/// What it writes until it ends.
fn said(launch_this: &Launch) -> (String, String) {
    let mut started = launch(launch_this).unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    started.stdout.read_to_string(&mut out).unwrap();
    started.stderr.read_to_string(&mut err).unwrap();
    (out, err)
}

#[test]
fn the_environment_is_the_given_one_and_no_other() {
    let env = vec![("ONLY".into(), "this\nand that".into()), ("PATH".into(), "/usr/bin:/bin".into())];
    let given = Launch { program: "env".into(), args: vec!["-0".into()], env, ..shell("") };
    let (out, _) = said(&given);
    let mut variables: Vec<&str> = out.split_terminator('\0').collect();
    variables.sort_unstable();
    assert_eq!(variables, ["ONLY=this\nand that", "PATH=/usr/bin:/bin"]);
}

#[test]
fn output_directory_and_process_group() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = fs::canonicalize(folder.path()).unwrap();
    let script = "pwd; echo complaint >&2; ps -o pgid= -p $$ | tr -d ' '; echo $$";
    let (out, err) = said(&Launch { cwd: cwd.clone(), ..shell(script) });
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(Path::new(lines[0]), cwd);
    assert_eq!(lines[1], lines[2], "it leads a group of its own");
    assert_eq!(err, "complaint\n");
}

#[test]
fn what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prompt.md");
    fs::write(&file, "from the file").unwrap();
    assert_eq!(said(&Launch { stdin: StdinFrom::File(file), ..shell("cat") }).0, "from the file");
    assert_eq!(said(&shell("cat")).0, "");

    let mut started = launch(&Launch { stdin: StdinFrom::Pipe, ..shell("cat") }).unwrap();
    started.stdin.take().unwrap().write_all(b"from the pipe").unwrap();
    let mut out = String::new();
    started.stdout.read_to_string(&mut out).unwrap();
    assert_eq!(out, "from the pipe");
}

fn refused(launch_this: &Launch) -> LaunchError {
    launch(launch_this).expect_err("it cannot be started")
}

/// Writes a program. Through another process, because a program that is open for writing is not started, and what
/// this process has open is open for a moment in whatever other threads start.
fn program(folder: &Path, text: &str, mode: u32) -> PathBuf {
    let path = folder.join("program");
    let mut command = Command::new("sh");
    command.args(["-c", "printf %s \"$1\" >\"$2\"", "sh", text]).arg(&path);
    assert!(command.status().unwrap().success());
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn why_it_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let none = Launch { program: "fleet-has-no-such-agent".into(), ..shell("") };
    let error = refused(&none);
    assert!(matches!(error, LaunchError::NotFound { .. }), "{error:?}");
    assert!(error.to_string().contains("fleet-has-no-such-agent"), "{error}");

    let secret = program(folder.path(), "#!/bin/sh\n", 0o600);
    let error = refused(&Launch { program: secret, ..shell("") });
    assert!(matches!(error, LaunchError::NotExecutable { .. }), "{error:?}");

    let orphan = program(folder.path(), "#!/no/such/interpreter\n", 0o700);
    for launch in [
        Launch { program: orphan, ..shell("") },
        Launch { program: "program".into(), env: vec![("PATH".into(), folder.path().into())], ..shell("") },
    ] {
        let error = refused(&launch);
        assert!(matches!(error, LaunchError::NoInterpreter { .. }), "{error:?}");
    }

    let error = refused(&Launch { cwd: folder.path().join("none"), ..shell("") });
    assert!(matches!(error, LaunchError::NoDirectory { .. }), "{error:?}");

    let error = refused(&Launch { stdin: StdinFrom::File(folder.path().join("none")), ..shell("") });
    assert!(matches!(error, LaunchError::Input { .. }), "{error:?}");

    let huge = vec![OsString::from("x".repeat(100_000)); 100];
    let error = refused(&Launch { args: huge, ..shell("") });
    assert!(matches!(error, LaunchError::Io { .. }), "{error:?}");
}

/// How a process ended, once it has.
pub(crate) fn end_of(pid: i32) -> Exit {
    let mut found = None;
    wait_until(BOUND, "the end is told", || {
        found = found.or(reap().into_iter().find(|(ended, _)| *ended == pid).map(|(_, exit)| exit));
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn the_end_is_told_once() {
    let _turn = REAPING.lock().unwrap();
    let by_itself = launch(&shell("exit 7")).unwrap();
    assert_eq!(end_of(by_itself.identity.pid), Exit::Code(7));
    let killed = launch(&shell("exec sleep 300")).unwrap();
    assert!(killed.identity.signal(Signal::KILL).unwrap());
    assert_eq!(end_of(killed.identity.pid), Exit::Signal(Signal::KILL.as_raw()));
    assert!(reap().iter().all(|(pid, _)| *pid != killed.identity.pid && *pid != by_itself.identity.pid));
}

#[test]
fn detached_processes_write_to_their_log() {
    let _turn = REAPING.lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("keeper.log");
    fs::write(&log, "before\n").unwrap();
    let detached = Detached {
        program: "sh".into(),
        args: ["-c", "echo out; echo err >&2; cat; echo \"[$MARK$HOME]\""].map(OsString::from).to_vec(),
        env: Some(vec![("PATH".into(), "/usr/bin:/bin".into()), ("MARK".into(), "m".into())]),
        cwd: folder.path().to_owned(),
        log: log.clone(),
    };
    let identity = spawn_detached(&detached).unwrap();
    assert_eq!(end_of(identity.pid), Exit::Code(0));
    assert_eq!(fs::read_to_string(&log).unwrap(), "before\nout\nerr\n[m]\n");
    assert!(!identity.is_alive());

    let inheriting =
        Detached { env: None, args: ["-c", "echo $PATH"].map(OsString::from).to_vec(), ..detached.clone() };
    end_of(spawn_detached(&inheriting).unwrap().pid);
    assert!(fs::read_to_string(&log).unwrap().contains(&std::env::var("PATH").unwrap()));

    let error =
        spawn_detached(&Detached { program: "fleet-has-no-such-agent".into(), ..detached }).unwrap_err();
    assert!(error.to_string().contains("fleet-has-no-such-agent"), "{error}");
}
