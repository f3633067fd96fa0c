//! Programs in a real pseudo-terminal.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};
use std::thread;

use fleet_host::TerminalSize;
use fleet_host::process::{
    Exit, Launch, LaunchError, Signal, StdinFrom, Terminal, TerminalReader, TerminalStarted,
    launch_in_terminal,
};
use fleet_testkit::wait_until;

use crate::BOUND;
use crate::launch::{REAPING, end_of, shell};

const SIZE: (u16, u16) = (101, 37);

fn start(script: &str) -> TerminalStarted {
    launch_in_terminal(&shell(script), TerminalSize::new(SIZE.0, SIZE.1)).unwrap()
}

/// What a program shows until nothing has its terminal open any more.
fn shown(launch: &Launch) -> String {
    let started = launch_in_terminal(launch, TerminalSize::new(SIZE.0, SIZE.1)).unwrap();
    let mut out = String::new();
    started.terminal.reader().read_to_string(&mut out).unwrap();
    out
}

/// A terminal whose output is read as it comes.
struct Attached {
    started: TerminalStarted,
    output: Arc<Mutex<Vec<u8>>>,
    reading: thread::JoinHandle<()>,
}

impl Attached {
    fn start(script: &str) -> Self {
        let started = start(script);
        let output = Arc::default();
        let reading = thread::spawn({
            let (reader, output) = (started.terminal.reader(), Arc::clone(&output));
            move || read_all(reader, &output)
        });
        Self { started, output, reading }
    }

    fn output(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, text: &str) {
        wait_until(BOUND, text, || self.output().contains(text));
    }

    fn write(&self, keys: &[u8]) {
        self.started.terminal.writer().write_all(keys).unwrap();
    }

    /// Types keys until the program has shown something: what is typed before it waits for them may get lost.
    fn type_until(&self, keys: &[u8], text: &str) {
        wait_until(BOUND, text, || {
            // It may just have ended.
            let _ = self.started.terminal.writer().write_all(keys);
            self.output().contains(text)
        });
    }

    fn finish(self) -> (String, Exit) {
        let exit = end_of(self.started.identity.pid);
        self.reading.join().unwrap();
        (String::from_utf8(self.output.lock().unwrap().clone()).unwrap(), exit)
    }
}

fn read_all(mut reader: TerminalReader, output: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        match reader.read(&mut buffer).unwrap() {
            0 => return,
            count => output.lock().unwrap().extend(&buffer[..count]),
        }
    }
}

#[test]
fn it_is_the_terminal_of_its_own_session() {
    let script = "test -t 0 && test -t 1 && test -t 2 && echo all of them; tty; : </dev/tty && echo controls; \
                  stty size; echo $$ $(ps -o pgid=,tpgid= -p $$)";
    let out = shown(&shell(script));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "all of them");
    assert!(lines[1].starts_with("/dev/"), "{out}");
    assert_eq!(lines[2], "controls");
    assert_eq!(lines[3], "37 101");
    let ids: Vec<&str> = lines[4].split_whitespace().collect();
    assert_eq!((ids[0], ids[0]), (ids[1], ids[2]), "it leads the group in the foreground");
}

#[test]
fn the_environment_is_the_given_one_and_no_other() {
    let env = vec![("ONLY".into(), "this".into()), ("PATH".into(), "/usr/bin:/bin".into())];
    let out = shown(&Launch { program: "env".into(), args: Vec::new(), env, ..shell("") });
    let mut variables: Vec<&str> = out.lines().collect();
    variables.sort_unstable();
    assert_eq!(variables, ["ONLY=this", "PATH=/usr/bin:/bin"]);
}

#[cfg(target_os = "linux")]
#[test]
fn it_inherits_no_descriptor() {
    fleet_host::process::pass_no_descriptors();
    let other = start("exec sleep 300");
    let out = shown(&shell("ls /proc/$$/fd; :"));
    assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2"]);
    other.identity.signal(Signal::KILL).unwrap();
}

#[test]
fn output_ends_with_the_program() {
    let _turn = REAPING.lock().unwrap();
    let attached = Attached::start("printf 'one\\ntwo'; exit 7");
    assert_eq!(attached.finish(), ("one\r\ntwo".to_owned(), Exit::Code(7)));
}

#[test]
fn what_is_typed_is_read() {
    let _turn = REAPING.lock().unwrap();
    let attached =
        Attached::start("stty -echo; echo ready; read line; echo \"got $line\"; cat; echo end of input");
    attached.wait_for("ready");
    attached.write(b"hello\n");
    attached.wait_for("got hello");
    attached.type_until(b"\x04", "end of input");
    assert_eq!(attached.finish().1, Exit::Code(0));
}

#[test]
fn ctrl_c_reaches_the_group_in_the_foreground() {
    let _turn = REAPING.lock().unwrap();
    let attached = Attached::start("trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 300; done");
    attached.wait_for("ready");
    attached.type_until(b"\x03", "caught");
    assert_eq!(attached.finish().1, Exit::Code(3));
}

#[test]
fn ctrl_c_spares_the_group_in_the_background() {
    let _turn = REAPING.lock().unwrap();
    let inner = "trap \"echo inner caught; exit 4\" INT; echo ready; while :; do sleep 300; done";
    let attached = Attached::start(&format!("set -m; sh -c '{inner}'; echo inner=$?; exit 5"));
    attached.wait_for("ready");
    attached.type_until(b"\x03", "inner=4");
    let (out, exit) = attached.finish();
    assert!(out.contains("inner caught"), "{out}");
    assert_eq!(exit, Exit::Code(5));
}

#[test]
fn ctrl_z_stops_a_job() {
    let _turn = REAPING.lock().unwrap();
    let attached =
        Attached::start("set -m; echo ready; sleep 300; echo stopped=$?; kill -KILL %1; exec sh -c 'exit 5'");
    attached.wait_for("ready");
    attached.type_until(b"\x1a", &format!("stopped={}", 128 + Signal::TSTP.as_raw()));
    assert_eq!(attached.finish().1, Exit::Code(5));
}

#[test]
fn a_new_size_is_reported() {
    let _turn = REAPING.lock().unwrap();
    let attached =
        Attached::start("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done");
    attached.wait_for("ready");
    attached.started.terminal.resize(TerminalSize::new(132, 43)).unwrap();
    attached.wait_for("43 132");
    assert_eq!(attached.finish().1, Exit::Code(0));
}

/// On macOS the terminal is gone with the leader of its session.
#[cfg(target_os = "linux")]
#[test]
fn output_of_those_that_outlive_the_program_is_read() {
    let _turn = REAPING.lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let late = "trap \"\" HUP; echo ready; while ! test -e \"$0\"; do sleep 0.05; done; echo late";
    let script = format!("trap '' HUP; sh -c '{late}' \"$0\" & exit 6");
    let launch = Launch { args: vec!["-c".into(), script.into(), go.clone().into()], ..shell("") };
    let started = launch_in_terminal(&launch, TerminalSize::default()).unwrap();
    assert_eq!(end_of(started.identity.pid), Exit::Code(6));
    std::fs::write(&go, "").unwrap();
    let mut out = String::new();
    started.terminal.reader().read_to_string(&mut out).unwrap();
    assert_eq!(out, "ready\r\nlate\r\n");
}

#[test]
fn the_kernel_hangs_up_when_nobody_holds_our_side() {
    let _turn = REAPING.lock().unwrap();
    let TerminalStarted { identity, terminal } = start("exec sleep 300");
    let reader: TerminalReader = terminal.reader();
    drop::<Terminal>(terminal);
    assert!(identity.is_alive(), "the reader holds it");
    drop(reader);
    assert_eq!(end_of(identity.pid), Exit::Signal(Signal::HUP.as_raw()));
}

#[test]
fn why_it_is_not_started() {
    let refused = |launch: Launch| launch_in_terminal(&launch, TerminalSize::default()).unwrap_err();
    let error = refused(Launch { program: "fleet-has-no-such-agent".into(), ..shell("") });
    assert!(matches!(error, LaunchError::NotFound { .. }), "{error:?}");
    let error = refused(Launch { cwd: "/no/such/folder".into(), ..shell("") });
    assert!(matches!(error, LaunchError::NoDirectory { .. }), "{error:?}");
    // What a launch says about standard input does not count here, not even a file that is missing.
    let out = shown(&Launch { stdin: StdinFrom::File("/no/such/file".into()), ..shell("echo started") });
    assert_eq!(out, "started\r\n");
}
