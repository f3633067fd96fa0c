//! Commands of a repository: what is shown, who is asked, and what is remembered.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fleet_testkit::fleet::Fleet;

use super::support::{World, can_make_terminals, error, shell, timeless};

const SETUP: &str = "# ours\n[workspaces]\nsetup = [\"npm ci\", \"echo a, b > 'c d'\"]\n";

fn world(config: &str) -> World {
    let world = World::sqlite();
    world.repo.write(".fleet/config.toml", config);
    world
}

/// What a command said, without what differs from test to test.
fn said(world: &World, arguments: &[&str]) -> String {
    let output = world.fleet.run(arguments);
    let place = world.repo.path().canonicalize().unwrap();
    let text = format!("{}{}[{}]", output.stdout, output.stderr, output.code);
    timeless(&text.replace(place.to_str().unwrap(), "/shop"))
}

fn is_trusted(fleet: &Fleet) -> bool {
    fleet.json(&["trust", "--list"])["here"]["trusted"].as_bool().unwrap()
}

#[test]
fn without_a_person_nothing_is_trusted() {
    let world = world(SETUP);
    insta::assert_snapshot!(said(&world, &["trust"]), @"
    /shop/.git requests:
      workspaces.setup  /shop/.fleet/config.toml:3
        npm ci
        echo a, b > 'c d'
    error: no terminal to confirm, so nothing was trusted
      → `--yes` does it without asking
      → `--list` shows what it requests
      fleet explain usage
    [2]
    ");
    insta::assert_snapshot!(said(&world, &["trust", "--json"]), @r#"
    {"error":{"code":"usage","message":"no terminal to confirm, so nothing was trusted","hints":["`--yes` does it without asking","`--list` shows what it requests"]}}
    [2]
    "#);
    assert!(!world.fleet.home().join("trust.json").exists());
    insta::assert_snapshot!(said(&world, &["trust", "--list"]), @"
    nothing is trusted

    /shop/.git requests:
      workspaces.setup  /shop/.fleet/config.toml:3
        npm ci
        echo a, b > 'c d'
    not trusted
    [0]
    ");
}

#[test]
fn consent_lasts_until_the_commands_change() {
    let world = world(SETUP);
    insta::assert_snapshot!(said(&world, &["trust", "--yes"]), @"
    trusted 1 setting
    /shop/.git requests:
      workspaces.setup  /shop/.fleet/config.toml:3
        npm ci
        echo a, b > 'c d'
    [0]
    ");
    insta::assert_snapshot!(said(&world, &["trust"]), @"
    trusted already: 1 setting
    [0]
    ");
    let mode = fs::metadata(world.fleet.home().join("trust.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    world.repo.write(".fleet/config.toml", format!("tasks.priority = 4\n{SETUP}"));
    assert!(is_trusted(&world.fleet), "other settings do not matter");
    world.repo.write(".fleet/config.toml", SETUP.replace("npm ci", "npm ci "));
    assert!(!is_trusted(&world.fleet));
    world.fleet.fail(2, &["trust"]);
    world.repo.write(".fleet/config.toml", SETUP);
    assert!(is_trusted(&world.fleet), "what was agreed to stays");

    insta::assert_snapshot!(said(&world, &["trust", "--revoke"]), @"
    no longer trusted
    [0]
    ");
    insta::assert_snapshot!(said(&world, &["trust", "--revoke"]), @"
    nothing was trusted
    [0]
    ");
    assert!(!is_trusted(&world.fleet));
}

#[test]
fn a_worktree_is_the_same_project_and_a_clone_is_not() {
    let world = world(SETUP);
    world.repo.commit("with commands");
    world.fleet.ok(&["trust", "--yes"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let (tree, clone) = (elsewhere.path().join("tree"), elsewhere.path().join("clone"));
    world.repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    world.repo.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    assert!(is_trusted(&world.fleet.cwd(&tree)));
    assert!(!is_trusted(&world.fleet.cwd(&clone)));
    let outside = world.fleet.cwd(elsewhere.path());
    let listing = outside.json(&["trust", "--list"]);
    assert!(listing["here"].is_null() && listing["trusted"].as_array().unwrap().len() == 1, "{listing}");
    let (code, ..) = error(&outside.fail(3, &["trust", "--json"]));
    assert_eq!(code, "not-a-repository");
}

#[test]
fn only_what_the_repository_wants_is_asked_about() {
    let world = world("tasks.priority = 4\n");
    let nothing = "this repository requests nothing that needs approval\n";
    assert_eq!(world.fleet.ok(&["trust"]), nothing);
    world.fleet.ok(&["config", "set", "workspaces.setup", "make"]);
    assert_eq!(world.fleet.ok(&["trust"]), nothing, "your own need no consent");
    world.repo.write(".fleet/config.toml", SETUP);
    assert_eq!(world.fleet.ok(&["trust", "-c", "workspaces.setup=[]"]), nothing, "they would not run");
    assert!(!world.fleet.home().join("trust.json").exists());
}

#[test]
fn the_doctor_mentions_what_waits_for_consent() {
    let world = world(SETUP);
    let check = || {
        let found = world.fleet.json(&["doctor"]);
        assert_eq!(found["healthy"], true, "{found}");
        let checks = found["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == "trust").map(|check| check["verdict"].clone())
    };
    assert_eq!(check().unwrap(), "warning");
    world.fleet.ok(&["trust", "-y"]);
    assert_eq!(check().unwrap(), "good");
    world.repo.write(".fleet/config.toml", "");
    assert_eq!(check(), None);
}

#[test]
fn an_agent_cannot_agree() {
    let world = world(SETUP);
    let inside = world.fleet.env("FLEET_RUN", "r0smmyvymnt4z7j");
    let (code, ..) = error(&inside.fail(4, &["trust", "--yes", "--json"]));
    assert_eq!(code, "door-closed", "who claims to be one is no person");
    assert!(!is_trusted(&world.fleet));
}

#[test]
fn a_damaged_file_is_told_and_kept() {
    let world = world(SETUP);
    let file = world.fleet.home().join("trust.json");
    fs::write(&file, "{\"version\":").unwrap();
    for arguments in [&["trust", "--yes"][..], &["trust", "--list"], &["trust", "--revoke"]] {
        let output = world.fleet.fail(6, arguments);
        assert!(
            output.stderr.contains("trust.json") && output.stderr.contains("remove the file"),
            "{output:?}"
        );
    }
    world.fleet.fail(7, &["doctor"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"version\":");
}

#[test]
fn a_command_that_hides_something_is_wrong_configuration() {
    for hidden in ["echo \u{202e}hs.live", "true\u{1b}[2K", "true\\nfalse"] {
        let world = world(&format!("workspaces.setup = [\"{hidden}\"]\n"));
        let output = world.fleet.fail(6, &["trust", "--yes"]);
        assert!(!output.stderr.contains(['\u{202e}', '\u{1b}']), "{output:?}");
    }
}

#[test]
fn a_person_at_a_terminal_decides() {
    if !can_make_terminals() {
        return;
    }
    let world = world(SETUP);
    let answer = |text: &str| {
        let fleet = world.fleet.env("ANSWER", text);
        let output = shell(&fleet, "printf '%s\\n' \"$ANSWER\" | script -qec '\"$FLEET\" trust' /dev/null");
        assert_eq!(output.code, 0, "{output:?}");
        output.stdout.replace('\r', "")
    };
    for no in ["n", "", "nonsense"] {
        let shown = answer(no);
        assert!(shown.contains("echo a, b > 'c d'") && shown.contains("nothing was trusted"), "{shown}");
        assert!(!is_trusted(&world.fleet));
    }
    let shown = answer("y");
    assert!(shown.contains("Approve? [y/N]") && shown.contains("trusted 1 setting"), "{shown}");
    assert!(is_trusted(&world.fleet));
}

#[test]
fn a_link_is_not_counted_as_trusted() {
    let world = world("");
    std::os::unix::fs::symlink("elsewhere.json", world.repo.path().join(".mcp.json")).unwrap();
    world.repo.commit("with a link");
    let nothing = "nothing was trusted; links and files over 4 MB cannot be approved\n";
    assert_eq!(world.fleet.ok(&["trust", "--yes"]), nothing);
    world.repo.write(".fleet/config.toml", SETUP);
    let said = world.fleet.ok(&["trust", "--yes"]);
    assert!(said.starts_with("trusted 1 setting; links and files over 4 MB cannot be approved"), "{said}");
}

#[test]
fn settings_templates_and_files_for_agents_are_asked_about_too() {
    let world = world("agent = 'codex'\nlimits.time = '8h'\nworkspaces.copy = ['.env']\n");
    world.repo.write(".fleet/templates/task.md", "{task}");
    world.repo.write(".claude/settings.json", "{\"hooks\": {}}");
    world.repo.write(".gitignore", ".env\n.claude/settings.local.json\n");
    world.repo.commit("with settings");
    world.repo.write(".claude/settings.local.json", "my own");
    world.repo.write(".env", "my own");
    insta::assert_snapshot!(said(&world, &["trust", "--yes"]), @"
    trusted 3 settings and 2 files
    /shop/.git requests:
      agent = codex  /shop/.fleet/config.toml:1
      limits.time = 8h  /shop/.fleet/config.toml:2
      workspaces.copy  /shop/.fleet/config.toml:3
        .env
      .fleet/templates/task.md  f76ecbfb9eb3
      .claude/settings.json  0cbcae531455
    [0]
    ");
    assert!(is_trusted(&world.fleet));
    let listed = said(&world, &["trust", "--list"]);
    assert!(listed.contains(".claude/settings.json") && !listed.contains("not trusted"), "{listed}");
    let rows: Vec<&str> = listed.lines().filter(|line| line.contains("f76ecbfb9eb3")).collect();
    assert!(rows.len() == 2 && rows[0].contains(".fleet/templates/task.md"), "{listed}");
    assert!(listed.lines().any(|line| line.starts_with("/shop") && line.contains("limits.time")), "{listed}");
    world.repo.write(".claude/settings.json", "{}");
    let listed = said(&world, &["trust", "--list"]);
    let marked: Vec<&str> = listed.lines().filter(|line| line.ends_with("  not trusted")).collect();
    assert!(marked.len() == 1 && marked[0].contains(".claude/settings.json"), "{listed}");
    let here = &world.fleet.json(&["trust", "--list"])["here"];
    assert_eq!(here["trusted"], false);
    assert_eq!(here["files"].as_array().unwrap().len(), 2, "{here}");
    world.fleet.ok(&["trust", "--yes"]);
    world.repo.write(".fleet/config.toml", "agent = 'gemini'\n");
    assert!(!is_trusted(&world.fleet), "another agent");
}
