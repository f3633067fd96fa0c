//! Long output on a terminal goes through a pager, and a key ends what keeps drawing.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use fleet_testkit::fleet::Fleet;

use super::support::{World, can_make_terminals, shell, shell_command};

const TERMINAL: &str = "script -qec \"bash -c \\\"\\$INNER\\\"\" /dev/null";

/// Whether a pager saw what this line showed, and what came to the terminal.
fn paged(fleet: &Fleet, rows: u16, line: &str) -> (bool, String) {
    let seen = fleet.user_home().join("seen");
    let _ = std::fs::remove_file(&seen);
    let inner = format!("stty cols 80 rows {rows}; {line}");
    let output = shell(&fleet.env("INNER", inner).env("TERM", "xterm"), TERMINAL);
    assert_eq!(output.code, 0, "{line}: {output:?}");
    (std::fs::read(&seen).is_ok_and(|text| !text.is_empty()), output.stdout)
}

#[test]
fn only_what_does_not_fit_a_terminal_is_paged() {
    if !can_make_terminals() {
        return;
    }
    let world = World::sqlite();
    let pager = format!("tee {}", world.fleet.user_home().join("seen").display());
    let fleet = world.fleet.env("PAGER", &pager);
    for (rows, line, is_paged) in [
        (20, "\"$FLEET\" config show", true),
        (200, "\"$FLEET\" config show", false),
        (20, "\"$FLEET\" config show --no-pager", false),
        (20, "\"$FLEET\" config show --json", false),
        (20, "\"$FLEET\" config show | cat", false),
        (20, "FLEET_PAGER=cat \"$FLEET\" config show", false),
        (20, "FLEET_PAGER=/no/such/pager \"$FLEET\" config show", false),
        (20, "TERM=dumb \"$FLEET\" config show", false),
        (20, "\"$FLEET\" create --help", true),
        (20, "\"$FLEET\" create --help --no-pager", false),
        (20, "\"$FLEET\" list", false),
    ] {
        let (seen, shown) = paged(&fleet, rows, line);
        assert_eq!(seen, is_paged, "{line} at {rows} rows: {shown}");
        let sign = if line.contains("--help") { "Global options" } else { "policy.lost" };
        assert!(shown.contains(sign) || line.contains(" list"), "{line}: everything is shown: {shown}");
    }
}

#[test]
fn q_ends_watching_and_leaves_the_terminal_as_it_was() {
    if !can_make_terminals() {
        return;
    }
    let world = World::sqlite();
    let inner = "stty cols 80 rows 24; \"$FLEET\" list --watch; echo ended $?; stty -a";
    let fleet = world.fleet.env("INNER", inner).env("TERM", "xterm");
    let mut command = shell_command(&fleet, TERMINAL);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut written, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let length = screen.read(&mut piece).unwrap();
        if length == 0 {
            break;
        }
        let before = String::from_utf8_lossy(&written).contains("no agent is running");
        written.extend_from_slice(&piece[..length]);
        if !before && String::from_utf8_lossy(&written).contains("no agent is running") {
            keys.write_all(b"xq").unwrap();
        }
    }
    child.wait().unwrap();
    let written = String::from_utf8_lossy(&written);
    assert!(written.contains("ended 0"), "{written}");
    assert!(
        written.contains(" icanon") && !written.contains("-icanon") && !written.contains("-echo "),
        "{written}"
    );
}
