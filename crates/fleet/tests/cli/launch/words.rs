//! The commands of `ai-fleet` as its users type them.

use super::super::support::shell;
use super::{Stage, prompt};

#[test]
fn its_happy_path_runs_unchanged() {
    let stage = Stage::new();
    stage.repo.write(".env", "KEY=1");
    stage.repo.write(".gitignore", ".env\n");
    stage.repo.commit("ignore");
    stage.fleet.ok(&["config", "set", "workspaces.copy", ".env"]);
    stage.fleet.ok(&["config", "set", "workspaces.setup", "echo getting ready"]);
    // What was not copied fails the run.
    stage.fleet.ok(&["config", "set", "workspaces.checks", "test -f .env"]);
    let text = prompt("It's; touch /tmp/x; echo '", "write a.txt x");
    stage.fleet.ok(&["create", "feature/a", "-p", &text, "-a", "demo"]);
    assert_eq!(stage.file("feature/a", "a.txt"), "x");
    let title = stage.fleet.json(&["task", "show", "feature/a"])["title"].clone();
    assert_eq!(title, "It's; touch /tmp/x; echo '", "quotes are text");
    let logs = stage.fleet.ok(&["logs", "feature/a", "-n", "50"]);
    assert!(logs.contains("set-up: getting ready"), "{logs}");
    assert_eq!(stage.fleet.ok(&["logs", "feature/a", "--setup"]).trim(), "getting ready");

    stage.fleet.ok(&["create", "feature-a", "-p", &text, "-a", "demo", "--quick"]);
    assert_eq!(stage.file("feature-a", "a.txt"), "x", "--quick still copies files");
    assert!(!stage.fleet.ok(&["logs", "feature-a", "-n", "50"]).contains("getting ready"));

    let hang = prompt("Fix v1.2 crash", "hang");
    let batch = stage.fleet.json(&["fanout", "2", "-p", &hang, "-a", "demo", "-d", "--quick"]);
    let first = batch["tasks"][0]["branch"].as_str().unwrap().to_owned();
    stage.fleet.ok(&["multi", "fix/one:Do one", "v1.2: Do two", "-a", "demo", "-d"]);
    let listed = stage.fleet.ok(&["l", "--grouped", "--all", "--repair"]);
    assert!(
        listed.contains("feature/a")
            && listed.contains(&first)
            && listed.contains("fix/one")
            && listed.contains("v1.2"),
        "{listed}"
    );
    let killed = stage.fleet.json(&["kill", "-b", batch["batch"].as_str().unwrap(), "-f", "-d"]);
    assert_eq!(killed["killed"].as_array().unwrap().len(), 2, "{killed}");
    assert!(!stage.branches().contains(&first));
    stage.fleet.ok(&["kill", "*", "--force", "--delete-branch"]);
}

#[test]
fn its_configuration_commands_work_bare_and_with_options() {
    let stage = Stage::quiet();
    assert!(stage.fleet.ok(&["config"]).contains("workspaces.setup"));
    assert!(stage.fleet.ok(&["config", "--show-origin"]).contains("ORIGIN"));
    assert_eq!(stage.fleet.ok(&["config", "-v"]), "configuration OK\n");
    let edited = stage.fleet.env("EDITOR", "true").ok(&["config", "-e"]);
    assert_eq!(edited, "nothing changed\n");
    stage.fleet.fail(2, &["config", "--edit", "--validate"]);
}

#[test]
fn each_step_is_shown_with_its_time_if_asked_for() {
    let stage = Stage::quiet();
    let quiet = stage.fleet.run(&["list"]);
    assert!(!quiet.stderr.contains(" ms  "), "{quiet:?}");
    for said in
        [stage.fleet.run(&["list", "--verbose"]), stage.fleet.env("AI_FLEET_DEBUG", "1").run(&["list"])]
    {
        let steps: Vec<&str> = said.stderr.lines().filter(|line| line.contains(" ms  ")).collect();
        for step in ["run.list", "open the store", "read the configuration", "store: ListRuns"] {
            assert!(steps.iter().any(|line| line.contains(step)), "{step} in\n{}", said.stderr);
        }
    }
    let piped = shell(&stage.fleet, "\"$FLEET\" list --json --verbose 2>/dev/null | head -c 1");
    assert_eq!(piped.stdout, "{");
}
