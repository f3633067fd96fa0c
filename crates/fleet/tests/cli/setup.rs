//! `fleet setup` from the command line. What happens to the files is tested in the engine; that the clients see it, with the
//! real ones.

use std::fs;
use std::os::unix::fs::symlink;

use super::support::{World, error};

#[test]
fn people_see_what_changes_and_how_clients_stand() {
    let world = World::sqlite();
    let file = world.fleet.user_home().join(".codex/config.toml");
    let trial = world.fleet.ok(&["setup", "codex", "--dry-run"]);
    assert!(trial.contains("would be registered") && trial.contains("+ [mcp_servers.codefleet]"), "{trial}");
    assert!(!file.exists());
    let done = world.fleet.ok(&["setup", "codex"]);
    assert!(done.contains("is registered as") && done.contains("`codex mcp list`"), "{done}");
    let binary = env!("CARGO_BIN_EXE_fleet");
    assert!(fs::read_to_string(&file).unwrap().contains(&format!("command = \"{binary}\"")), "{done}");
    assert!(world.fleet.ok(&["setup", "codex"]).contains("is registered already"));
    let listed = world.fleet.ok(&["setup"]);
    let row = |client: &str| listed.lines().find(|line| line.starts_with(client)).unwrap().to_owned();
    assert!(row("codex").contains("registered") && row("claude").contains("absent"), "{listed}");
    assert!(world.fleet.ok(&["setup", "codex", "--remove"]).contains("unregistered"));
    assert!(!file.exists());
    assert!(world.fleet.ok(&["setup", "codex", "--remove"]).contains("is not registered"));
}

#[test]
fn the_secrets_of_others_are_not_shown() {
    let world = World::sqlite();
    let file = world.fleet.user_home().join(".claude.json");
    fs::write(&file, r#"{"mcpServers":{"other":{"command":"x","env":{"TOKEN":"s3cret"}}}}"#).unwrap();
    for arguments in
        [&["setup", "claude", "--dry-run"][..], &["setup", "claude"], &["setup", "claude", "--remove"]]
    {
        let said = world.fleet.ok(arguments);
        assert!(said.contains("codefleet") && !said.contains("s3cret"), "{said}");
    }
    assert!(fs::read_to_string(&file).unwrap().contains("s3cret"));
}

#[test]
fn the_project_can_be_looked_at_alone() {
    let world = World::sqlite();
    let listed = world.fleet.json(&["setup", "--scope", "project"]);
    let clients = listed["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 4, "{listed}");
    assert!(clients.iter().all(|one| one["scope"] == "project" && one["status"] == "absent"), "{listed}");
}

#[test]
fn the_name_alone_is_registered_where_the_path_leads_here() {
    let world = World::sqlite();
    let bin = world.fleet.user_home().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_fleet"), bin.join("fleet")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let answer = world.fleet.env("PATH", path).json(&["setup", "claude"]);
    assert_eq!(answer["command"], serde_json::json!(["fleet", "mcp"]));
    assert_eq!(world.fleet.json(&["setup", "claude"])["done"], "updated", "seen from elsewhere");
}

#[test]
fn a_project_gets_what_is_right_for_everybody() {
    let world = World::sqlite();
    for (client, file) in [
        ("claude", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ] {
        let answer = world.fleet.json(&["setup", client, "--scope", "project"]);
        assert_eq!(answer["command"], serde_json::json!(["fleet", "mcp"]), "{client}");
        let text = fs::read_to_string(world.repo.path().join(file)).unwrap();
        assert!(!text.contains("FLEET_HOME"), "{text}");
        let listed = world.fleet.json(&["setup"]);
        let is_it = |found: &serde_json::Value| {
            found["client"] == client && found["scope"] == "project" && found["status"] == "registered"
        };
        assert!(listed["clients"].as_array().unwrap().iter().any(is_it), "{listed}");
        world.fleet.ok(&["setup", client, "--scope", "project", "--remove"]);
        assert!(!world.repo.path().join(file).exists(), "{client}");
    }
    let outside = world.fleet.user_home().join("outside.json");
    fs::write(&outside, "{}").unwrap();
    symlink(&outside, world.repo.path().join(".mcp.json")).unwrap();
    let (code, ..) = error(&world.fleet.fail(4, &["setup", "claude", "--scope", "project", "--json"]));
    assert_eq!(code, "setup-refused");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn where_agents_may_not_work_nothing_is_added() {
    let world = World::sqlite();
    let inside = world.fleet.env("FLEET_ALLOWED_REPOS", "~/code, /nowhere");
    for arguments in [&["task", "add", "x"][..], &["create", "x", "-p", "x"], &["task", "import", "-"]] {
        let arguments = [arguments, &["--json"]].concat();
        let (code, _, hints) = error(&inside.stdin("{\"title\":\"x\"}").fail(4, &arguments));
        assert_eq!(code, "repository-refused", "{arguments:?}");
        assert!(hints.contains("~/code, /nowhere"), "{hints}");
    }
    let allowed = world.fleet.env("FLEET_ALLOWED_REPOS", world.repo.path().to_str().unwrap());
    let task = allowed.env("FLEET_DEFAULT_TIMEOUT", "90").json(&["task", "add", "x"]);
    assert_eq!(task["limits"]["seconds"], 90);
    let (code, message, _) =
        error(&world.fleet.env("FLEET_DEFAULT_TIMEOUT", "soon").fail(6, &["task", "add", "y", "--json"]));
    assert_eq!(code, "config-invalid");
    assert!(message.starts_with("FLEET_DEFAULT_TIMEOUT: ") && message.ends_with("not `soon`"), "{message}");
    assert_eq!(world.fleet.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 1);
}
