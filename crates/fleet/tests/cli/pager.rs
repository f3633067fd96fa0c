//! Long output on a terminal goes through a pager, and a key ends what keeps drawing.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use fleet_testkit::fleet::Fleet;

use super::support::{World, can_make_terminals, shell, shell_command};

const TERMINAL: &str = "script -qec \"bash -c \\\"\\$INNER\\\"\" /dev/null";

/// Whether a pager saw what this line showed, and what came to the terminal.
fn paged(fleet: &Fleet, rows: u16, line: &str) -> (bool, String) {
    let seen = fleet.user_home().join("seen");
    let _ = fs::remove_file(&seen);
    let inner = format!("stty cols 80 rows {rows}; {line}");
    let output = shell(&fleet.env("INNER", inner).env("TERM", "xterm"), TERMINAL);
    assert_eq!(output.code, 0, "{line}: {output:?}");
    (fs::read(&seen).is_ok_and(|text| !text.is_empty()), output.stdout)
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
fn less_is_told_what_it_gets_unless_the_user_says_otherwise() {
    if !can_make_terminals() {
        return;
    }
    let world = World::sqlite();
    let pager = world.fleet.user_home().join("pager");
    fs::write(&pager, "#!/bin/sh\ncat > /dev/null\necho \"less=$LESS charset=$LESSCHARSET\"\n").unwrap();
    fs::set_permissions(&pager, fs::Permissions::from_mode(0o755)).unwrap();
    let fleet = world.fleet.env("PAGER", pager.display().to_string());
    let shown = |line: &str| paged(&fleet, 20, line).1;
    assert!(shown("\"$FLEET\" config show").contains("less=FRX charset=utf-8"));
    assert!(shown("LESS=S \"$FLEET\" config show").contains("less=S charset=utf-8"));
}

/// What comes to a terminal on which this runs. Each text is waited for, and then answered with keys.
fn typed(fleet: &Fleet, inner: &str, answers: &[(&str, &[u8])]) -> String {
    let fleet = fleet.env("INNER", format!("stty cols 80 rows 24; {inner}")).env("TERM", "xterm");
    let mut command = shell_command(&fleet, &format!("timeout -s KILL 60 {TERMINAL}"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut written, mut piece, mut seen) = (String::new(), [0; 4096], 0);
    let mut answers = answers.iter();
    let mut next = answers.next();
    loop {
        let length = screen.read(&mut piece).unwrap();
        if length == 0 {
            break;
        }
        written.push_str(&String::from_utf8_lossy(&piece[..length]));
        while let Some((sign, answer)) = next
            && let Some(at) = written[seen..].find(sign)
        {
            seen += at + sign.len();
            keys.write_all(answer).unwrap();
            next = answers.next();
        }
    }
    child.wait().unwrap();
    written
}

const EMPTY: &str = "no agent is running";

#[test]
fn q_ends_watching_and_leaves_the_terminal_as_it_was() {
    if !can_make_terminals() {
        return;
    }
    let inner = "\"$FLEET\" list --watch; echo ended $?; stty -a";
    let written = typed(&World::sqlite().fleet, inner, &[(EMPTY, b"xq")]);
    assert!(written.contains("ended 0"), "{written}");
    assert!(
        written.contains(" icanon") && !written.contains("-icanon") && !written.contains("-echo "),
        "{written}"
    );
}

#[test]
fn q_ends_watching_after_it_was_stopped_and_continued() {
    if !can_make_terminals() {
        return;
    }
    // As a shell does it for its own line.
    let inner = "set -m; \"$FLEET\" list --watch; echo stopped; stty icanon echo; fg; echo ended $?";
    let written = typed(&World::sqlite().fleet, inner, &[(EMPTY, b"\x1a"), ("stopped", b""), (EMPTY, b"q")]);
    assert!(written.contains("ended 0"), "{written}");
}

#[test]
fn watching_ends_as_its_signal_says() {
    if !can_make_terminals() {
        return;
    }
    let inner = "timeout -s TERM --foreground --preserve-status 2 \"$FLEET\" list --watch; echo ended $?";
    let written = typed(&World::sqlite().fleet, inner, &[]);
    assert!(written.contains("ended 143"), "{written}");
}
