//! Agents that use their terminal against the person who looks at it.

use std::fs;

use fleet_testkit::wait_until;

use super::stage::{BOUND, DETACH, Stage};

/// What must never come to the terminal of a person.
const FORBIDDEN: &[&[u8]] = &[
    b"\x1b]",  // titles, the clipboard, colours
    b"\x1bP",  // device control
    b"\x1b_",  // application commands
    b"\x1b^",  // privacy messages
    b"\x1b[c", // questions that the terminal would answer
    b"\x1b[>c",
    b"\x1b[6n",
    b"\x1b[5n",
    b"\x05",
    b"\x1b[8;", // a new size
    b"\x1b[21t",
    b"\x9d",
    b"\x90",
];

fn script(body: &str) -> (Stage, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sh");
    fs::write(&path, format!("stty -echo\n{body}\nread forever\n")).unwrap();
    let config =
        format!("[agents.evil]\nprogram = \"sh\"\nargs = []\nterminal_args = [\"{}\"]\n", path.display());
    (Stage::configured(&config), folder)
}

#[test]
fn nothing_that_an_agent_prints_reaches_the_terminal_as_a_command() {
    let (stage, _folder) = script(
        r"printf '\033]0;title\007\033]52;c;ZXZpbA==\007\033Pq#0;2;0;0;0#0~~\033\\\033_Gf=100;AAAA\033\\'
printf '\033[c\033[>c\033[6n\033[5n\005\033[8;10;10t\033[21t\033[18t\033[?1049h\033[2J\033[Hhello'
printf '\033]8;;http://evil\007link\033]8;;\007 \033^private\033\\ \302\235 \302\220 end'",
    );
    stage.fleet.ok(&["create", "evil", "--interactive", "--agent", "evil"]);
    let person = stage.attach(&["evil"], 80, 24);
    person.sees("hello");
    person.sees("end");
    person.types(DETACH);
    let bytes = {
        person.sees("detached");
        person.bytes()
    };
    for sequence in FORBIDDEN {
        let found = bytes.windows(sequence.len()).any(|window| window == *sequence);
        assert!(!found, "{sequence:?} in {:?}", String::from_utf8_lossy(&bytes));
    }
}

/// Only the superuser may look into a keeper.
fn memory_of(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_flood_neither_grows_the_keeper_nor_stops_anybody() {
    let flood = "printf ready; read go; yes \"$(printf '\\033[31mx\\314\\201\\033]52;c;')\" & sleep 1; echo";
    let (stage, _folder) = script(flood);
    stage.fleet.ok(&["create", "evil", "--interactive", "--agent", "evil"]);
    let person = stage.attach(&["evil"], 200, 50);
    person.sees("ready");
    let keeper = stage.keeper_of("evil");
    let before = memory_of(keeper);
    person.types("go\r");
    person.sees("x");
    // What the flood has changed on the screen says that it goes on.
    for _ in 0..20 {
        let shown = person.bytes().len();
        wait_until(BOUND, "the flood goes on", || person.bytes().len() > shown);
        let growth = memory_of(keeper).zip(before).map(|(now, before)| now.saturating_sub(before));
        assert!(growth.is_none_or(|growth| growth <= 16 * 1024), "{growth:?} KiB");
    }
    person.types(DETACH);
    assert_eq!(person.leaves(), 0, "a person can leave in the middle of it");
    stage.fleet.ok(&["kill", "evil", "--yes"]);
    wait_until(BOUND, "the flood ends", || stage.agents().is_empty());
}

/// What codefleet knows to be secret is neither stored nor printed, except to the person who looks at the terminal itself.
#[test]
fn secrets_do_not_reach_logs_recordings_and_events() {
    let secret = "sk-very-secret-0123456789";
    let stage = Stage::configured(&format!(
        "[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = []\n[agents.shell.env]\nMY_TOKEN = \"{secret}\"\n"
    ));
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let person = stage.attach(&["sh"], 40, 24);
    person.types("echo; echo token $MY_TOKEN; echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$MY_TOKEN; echo mark''ed\r");
    person.sees(&format!("token {secret}"));
    person.sees("marked");
    stage.wait_for_log("sh", "marked");
    let live = stage.logs("sh");
    assert!(live.contains("token *****") && !live.contains(secret), "{live}");
    assert!(!live.replace('\n', "").contains(secret), "not across two lines either: {live}");
    person.types("exit\r");
    assert_eq!(person.leaves(), 0);
    stage.wait_for_status("sh", "done");
    let last = stage.logs("sh");
    assert!(last.contains("token *****") && !last.replace('\n', "").contains(secret), "{last}");
    let recording = fs::read_to_string(stage.fleet.ok(&["replay", "sh", "--path"]).trim_end()).unwrap();
    assert!(recording.contains("marked") && !recording.contains(secret), "{recording}");
    let shown = stage.fleet.ok(&["task", "show", "sh", "--events", "1000", "--json"]);
    assert!(!shown.contains(secret), "{shown}");
}

/// Connects to a terminal as `fleet attach` does, types, and prints what it is told.
const INTRUDER: &str = r#"
import json, socket, struct, sys
def frame(kind, data): return kind + struct.pack('>I', len(data)) + data
hello = {"attach": {"size": {"rows": 9, "columns": 9}, "read_only": False}}
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(frame(b'h', json.dumps(hello).encode()) + frame(b'k', b'evil\r'))
except BrokenPipeError:
    pass
kind, length = struct.unpack('>cI', s.recv(5))
print(kind, s.recv(length).decode(errors='replace')[:150])
"#;

/// What an agent can reach of another agent's terminal.
#[test]
fn agents_do_not_type_into_terminals() {
    let stage = Stage::configured("[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = []\n");
    stage.open("victim");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let run = stage.run_of("victim")["id"].as_str().unwrap().to_owned();
    let socket = stage.fleet.home().join("runs").join(run).join("terminal");
    let intruder = stage.fleet.user_home().join("intruder.py");
    fs::write(&intruder, INTRUDER).unwrap();
    let person = stage.attach(&["sh"], 200, 50);
    let (fleet, home) = (env!("CARGO_BIN_EXE_fleet"), stage.fleet.home().display());
    for (name, command) in [
        ("attach", format!("{fleet} attach victim")),
        ("allow", format!("{fleet} allow victim")),
        ("headless", format!("{fleet} headless victim")),
        ("logs", format!("{fleet} logs victim")),
        ("elsewhere", format!("env -i HOME=/ FLEET_HOME={home} {fleet} attach victim")),
    ] {
        person.types(format!(
            "clear; if {command}; then echo {name}' 'allowed; else echo {name}' 'refused; fi\r"
        ));
        person.sees(&format!("{name} refused"));
    }
    person.types(format!("clear; python3 {} {}\r", intruder.display(), socket.display()));
    person.sees("only people can use the terminal");
    assert!(!stage.logs("victim").contains("evil"), "{}", stage.logs("victim"));
}

/// Types into a terminal and ends before anybody can look where it comes from.
const HIT_AND_RUN: &str = r#"
import json, os, socket, struct, sys
def frame(kind, data): return kind + struct.pack('>I', len(data)) + data
hello = {"attach": {"size": {"rows": 9, "columns": 9}, "read_only": False}}
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(frame(b'h', json.dumps(hello).encode()) + frame(b'k', b'evil\r'))
if os.fork() == 0:
    import time
    time.sleep(3600)
"#;

/// The keeper stands still until the process that connected is gone; another one holds the connection open.
#[test]
fn whoever_connected_and_is_gone_does_not_count_as_a_person() {
    let stage = Stage::patient("[agents.shell]\nprogram = \"sh\"\nargs = []\nterminal_args = []\n");
    stage.open("victim");
    stage.fleet.ok(&["create", "sh", "--interactive", "--agent", "shell"]);
    let run = stage.run_of("victim")["id"].as_str().unwrap().to_owned();
    let socket = stage.fleet.home().join("runs").join(run).join("terminal");
    let intruder = stage.fleet.user_home().join("intruder.py");
    fs::write(&intruder, HIT_AND_RUN).unwrap();
    let person = stage.attach(&["sh"], 200, 50);
    let keeper = stage.keeper_of("victim");
    Stage::pause(keeper, true);
    person.types(format!("python3 {} {}; echo go''ne $?\r", intruder.display(), socket.display()));
    person.sees("gone 0");
    Stage::pause(keeper, false);
    stage.fleet.ok(&["prompt", "victim", "a prompt after it"]);
    stage.wait_for_log("victim", "demo> a prompt after it");
    assert!(!stage.logs("victim").contains("evil"), "{}", stage.logs("victim"));
}
