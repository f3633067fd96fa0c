//! What programs say about themselves. The sequences are those of Claude Code 2.1.325 and Codex 0.166.

use super::*;

fn statuses(output: &str) -> Vec<ProgramStatus> {
    screen(20, 2, output).take_statuses()
}

fn status(state: ProgramState, app: &str) -> ProgramStatus {
    let app = Some(app.to_owned());
    ProgramStatus { state, app, id: None, kind: None, progress: None, title: None, message: None }
}

#[test]
fn agents_report_their_status() {
    let output = "\x1b]7501;state=idle:app=codex\x1b\\x\x1b]7501;state=working:app=codex\x1b\\";
    let expected = [status(ProgramState::Idle, "codex"), status(ProgramState::Working, "codex")];
    let mut reporting = screen(20, 2, output);
    assert_eq!(reporting.take_statuses(), expected);
    assert_eq!(reporting.take_statuses(), [], "each is told once");
    assert_eq!(reporting.text()[0], "x");
}

#[test]
fn a_blocked_agent_says_why() {
    let message = "YXBwcm92ZSBXcml0ZTogL3cveC50eHQ=";
    let output =
        format!("\x1b]7501;state=blocked:app=claude-code:id=a:kind=permission:progress=40:msg={message}\x07");
    let expected = ProgramStatus {
        id: Some("a".to_owned()),
        kind: Some("permission".to_owned()),
        progress: Some(40),
        message: Some("approve Write: /w/x.txt".to_owned()),
        ..status(ProgramState::Blocked, "claude-code")
    };
    assert_eq!(statuses(&output), [expected]);
}

#[test]
fn the_longest_message_fits() {
    let (longest, too_long) = ("eHh4".repeat(682), "eHh4".repeat(2000));
    let message = |encoded: &str| {
        statuses(&format!("\x1b]7501;state=done:msg={encoded}\x07")).remove(0).message.map(|text| text.len())
    };
    assert_eq!(message(&longest), Some(2046));
    assert!(message(&too_long).is_none_or(|length| length <= 2048));
}

#[test]
fn what_is_not_a_report_is_ignored() {
    for output in
        ["7501", "7501;", "7501;?", "7501;state=", "7501;state=dancing", "7501;working", "75011;state=idle"]
    {
        assert_eq!(statuses(&format!("\x1b]{output}\x07")), [], "{output}");
    }
    let odd = &statuses("\x1b]7501;state=idle:progress=400:msg=*:app=\x07")[0];
    assert_eq!((odd.progress, odd.message.clone(), odd.app.as_deref()), (None, None, Some("")));
    assert_eq!(statuses(&"\x1b]7501;state=idle\x07".repeat(1000)).len(), 32);
}

#[test]
fn titles_are_text() {
    assert_eq!(screen(20, 2, "").title(), None);
    assert_eq!(screen(20, 2, "\x1b]0;✳ Claude Code\x07").title(), Some("✳ Claude Code"));
    assert_eq!(screen(20, 2, "\x1b]2;a;b\x1b\\").title(), Some("a;b"));
    assert_eq!(screen(20, 2, "\x1b]0;◇  Ready (x)     \x07").title(), Some("◇  Ready (x)"));
    let hostile = format!("\x1b]0;a\u{202e}b\u{9b}c{}\x07", "d".repeat(9000));
    let shown = screen(20, 2, &hostile);
    let title = shown.title().unwrap();
    assert!(title.starts_with("ab cd") && title.len() == 256, "{title}");
}
