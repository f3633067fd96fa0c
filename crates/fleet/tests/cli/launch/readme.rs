//! What the README shows first works as it stands there.

use fleet_testkit::wait_until;

use super::super::support::shell;
use super::{SOON, Stage};

/// The lines of the first example with this in it, without their prompts.
pub(in super::super) fn example(with: &str) -> String {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let mut blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let block = blocks.find(|block| block.contains(with)).unwrap();
    block.lines().map(|line| line.strip_prefix("$ ").unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_example_works_line_by_line() {
    let stage = Stage::new();
    let lines = example("fleet fanout 3 login");
    assert!(lines.contains("fleet undo login-C"), "{lines}");
    let done = shell(&stage.fleet, &format!("set -e\nfleet() {{ \"$FLEET\" \"$@\"; }}\n{lines}"));
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(stage.branches().contains(&"login-C".to_owned()), "{:?}", stage.branches());
    wait_until(SOON, "what was added", || {
        stage.repo.git(&["ls-tree", "--name-only", "login-B:notes"]).contains("also-cover-logout.md")
    });
    assert!(stage.file("login-C", "notes/fix-the-flaky-login-test.md").contains("flaky"));
}
