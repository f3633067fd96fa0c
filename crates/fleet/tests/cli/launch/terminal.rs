//! The live block on a terminal.

use std::io::Read as _;
use std::process::Stdio;

use super::super::support::{ESCAPE, can_make_terminals, settled, shell, shell_command};
use super::{Stage, prompt};

/// What a command writes to a terminal of this size.
fn on_terminal(stage: &Stage, size: &str, command: &str) -> String {
    on_watched_terminal(stage, size, command, |_| {})
}

/// The same, while somebody looks at what was written so far.
fn on_watched_terminal(stage: &Stage, size: &str, command: &str, mut look: impl FnMut(&str)) -> String {
    let inner = format!("stty {size}; \"$FLEET\" {command}");
    let fleet = stage.fleet.env("TERM", "xterm-256color").env("INNER", inner);
    let mut command = shell_command(&fleet, "script -qec \"bash -c \\\"\\$INNER\\\"\" /dev/null");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut written, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match out.read(&mut piece).unwrap() {
            0 => break,
            length => written.extend_from_slice(&piece[..length]),
        }
        look(&String::from_utf8_lossy(&written));
    }
    let written = String::from_utf8(written).unwrap();
    assert!(child.wait().unwrap().success(), "{written:?}");
    written.replace('\r', "")
}

#[test]
fn a_block_is_drawn_over_itself() {
    if !can_make_terminals() {
        return;
    }
    let stage = Stage::new();
    // It goes on when it was seen, however slow the machine is.
    let go_on = stage.fleet.user_home().join("go-on");
    let steps = format!("say almost there\nwait-for {} 1m\nwrite a.txt hello", go_on.display());
    stage.repo.write("prompt.md", prompt("Greet", &steps));
    let command = "create greet --prompt-file prompt.md";
    let written = on_watched_terminal(&stage, "cols 80 rows 24", command, |written| {
        if written.contains("running") {
            std::fs::write(&go_on, "").unwrap();
        }
    });
    assert!(written.contains("\u{1b}[2F"), "{written:?}");
    assert!(written.contains("\u{1b}[34mrunning"), "with colours: {written:?}");
    let lines = settled(&written);
    let is_row = |line: &&String| line.contains(" greet ") && !line.starts_with("new branch");
    let rows: Vec<&String> = lines.iter().filter(is_row).collect();
    assert_eq!(rows.len(), 1, "one line for the task: {lines:?}");
    assert!(rows[0].contains("done") && rows[0].contains("demo"), "{lines:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:?}");
}

#[test]
fn without_colours_it_is_still_one_block() {
    if !can_make_terminals() {
        return;
    }
    let mut stage = Stage::new();
    stage.world.fleet = stage.fleet.env("NO_COLOR", "1");
    stage.repo.write("prompt.md", prompt("Greet", "sleep 300ms\nwrite a.txt hello"));
    let written =
        on_terminal(&stage, "cols 40 rows 5", "create a-branch-with-a-long-name --prompt-file prompt.md");
    assert!(!written.contains("\u{1b}[34m") && !written.contains("\u{1b}[2m"), "{written:?}");
    let lines = settled(&written);
    let block: Vec<&String> =
        lines.iter().filter(|line| line.starts_with("STATE") || line.starts_with("done")).collect();
    assert_eq!(block.len(), 2, "{lines:?}");
    assert!(block.iter().all(|line| line.chars().count() <= 40), "{lines:?}");
}

/// How far up the cursor ever went.
fn highest(written: &str) -> usize {
    let moves =
        written.split('\u{1b}').filter_map(|part| part.strip_prefix('[')?.split_once('F')?.0.parse().ok());
    moves.max().unwrap_or(0)
}

#[test]
fn a_block_is_never_higher_than_the_terminal() {
    if !can_make_terminals() {
        return;
    }
    let stage = Stage::new();
    stage.repo.write("prompt.md", prompt("Greet", "sleep 100ms\nwrite a.txt hello"));
    let written = on_terminal(&stage, "cols 80 rows 8", "fanout 9 try --prompt-file prompt.md --quick");
    assert!((3..8).contains(&highest(&written)), "{written:?}");
    assert!(written.contains("… and 4 tasks more: "), "{written:?}");
    let lines = settled(&written);
    let rows = lines.iter().filter(|line| line.contains(" try-") && line.contains("done")).count();
    assert_eq!(rows, 9, "all of them in the end: {lines:?}");
    assert!(!lines.iter().any(|line| line.contains("more")), "{lines:?}");
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_lines() {
    if !can_make_terminals() {
        return;
    }
    let stage = Stage::new();
    stage.repo.write("prompt.md", prompt("Greet", "write a.txt hello"));
    let inner = "\"$FLEET\" create greet --prompt-file prompt.md --color never";
    let output =
        shell(&stage.fleet.env("INNER", inner), "script -qec \"bash -c \\\"\\$INNER\\\"\" /dev/null");
    assert!(!output.stdout.contains(ESCAPE), "{output:?}");
    assert!(output.stdout.contains("done"), "{output:?}");
}

/// Titles that begin alike and branches that differ at their ends, as a fan-out makes them.
#[test]
fn eighty_columns_keep_what_tells_rows_apart() {
    if !can_make_terminals() {
        return;
    }
    let stage = Stage::new();
    let text =
        prompt("Fix the flaky login test of the suite for browsers", "write a x\nusage 12000 3000 0.25");
    stage.fleet.ok(&["fanout", "3", "fix-the-flaky-login-test-of-the-suite", "-p", &text]);
    let first = stage.fleet.ok(&["task", "add", "-q", "Split the parser into modules", "--hold"]);
    let after =
        ["task", "add", "Document all modules of the parser", "--after", first.trim(), "--label", "docs,api"];
    stage.fleet.ok(&after);
    let plain = |command: &str| {
        let written = on_terminal(&stage, "rows 40 cols 80", command);
        let lines: Vec<String> =
            written.lines().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        lines
    };
    for command in ["list --all", "undo"] {
        let lines = plain(command);
        for letter in ["A", "B", "C"] {
            let end = format!("-suite-{letter} ");
            let row = lines.iter().find(|line| line.contains(&end)).unwrap_or_else(|| panic!("{lines:#?}"));
            assert!(row.contains("Fix the flaky login test"), "{command}: {lines:#?}");
        }
    }
    let lines = plain("task list");
    let row = lines.iter().find(|line| line.contains("Document all modules of")).unwrap();
    assert!(row.contains(&format!("after {}", &first.trim()[10..])), "{lines:#?}");
}
