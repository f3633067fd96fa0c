//! Commands of a workflow that came with the repository run only with consent.

use super::bench::{Bench, stage};

#[test]
fn checks_of_the_repository_are_asked_about_and_asked_again_when_they_change() {
    let bench = Bench::new();
    let write = |check: &str| {
        let text = format!("task = 'x'\n{}", stage("a", &format!("checks = ['{check}']"), "write a.txt x"));
        bench.repo.write(".fleet/workflows/own.toml", text);
    };
    write("test -f a.txt");
    let refused = bench.fleet.fail(4, &["workflow", "run", "own"]);
    assert!(
        refused.stderr.contains("fleet trust --workflow") && refused.stderr.contains("untrusted"),
        "{refused:?}"
    );
    let asked = bench.fleet.fail(2, &["trust", "--workflow", "own"]);
    assert!(asked.stderr.contains(r#"["test","-f","a.txt"]"#), "what would run is shown: {asked:?}");
    let text = std::fs::read_to_string(bench.repo.path().join(".fleet/workflows/own.toml")).unwrap();
    let line = 1 + text.lines().position(|line| line.starts_with("checks")).unwrap();
    assert!(line > 1 && asked.stderr.contains(&format!("own.toml:{line}\n")), "{asked:?}");
    let wants = "needs approval: fleet trust --workflow own\n";
    assert!(bench.fleet.ok(&["workflow", "check", "own"]).ends_with(wants));
    bench.fleet.ok(&["trust", "--workflow", "own", "--yes"]);
    assert!(!bench.fleet.ok(&["workflow", "check", "own"]).contains("fleet trust"));
    let output = bench.fleet.run(&["workflow", "run", "own"]);
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    write("rm -rf /");
    assert_eq!(bench.fleet.run(&["workflow", "run", "own"]).code, 4, "other commands are other commands");
    let by_path = bench.repo.path().join(".fleet/workflows/own.toml");
    assert_eq!(
        bench.fleet.run(&["workflow", "run", by_path.to_str().unwrap()]).code,
        4,
        "however it is named"
    );
}

#[test]
fn a_workflow_of_the_repository_without_commands_needs_no_consent() {
    let bench = Bench::new();
    bench.repo.write(".fleet/workflows/own.toml", format!("task = 'x'\n{}", stage("a", "", "write a.txt x")));
    assert_eq!(bench.fleet.run(&["workflow", "run", "own"]).code, 0);
    assert_eq!(bench.fleet.ok(&["trust", "--workflow", "own"]), "this workflow needs no approval\n");
}
