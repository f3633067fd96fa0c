//! `fleet init`: the file of a project, and what other tools left.

use std::fs;

use super::support::{World, error};

#[test]
fn a_project_is_set_up_once_and_works_after_trust() {
    let world = World::sqlite();
    world.repo.write("package.json", "{}");
    world.repo.write("package-lock.json", "{}");
    world.repo.write(".gitignore", "node_modules");
    let refused = world.fleet.fail(2, &["init"]);
    assert!(refused.stderr.contains("`--yes` does it") && refused.stderr.contains("npm ci"), "{refused:?}");
    assert!(!world.repo.path().join(".fleet").exists());

    let said = world.fleet.ok(&["init", "--yes"]);
    for part in ["wrote .fleet/config.toml", "type: node", "fleet trust", "fleet create"] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
    let ignored = fs::read_to_string(world.repo.path().join(".gitignore")).unwrap();
    assert_eq!(ignored, "node_modules\n.fleet/.*\n.fleet/*.backup\n");
    let shown = world.fleet.ok(&["config", "--show-origin"]);
    let row = shown.lines().find(|line| line.starts_with("workspaces.setup ")).unwrap();
    assert!(row.contains("npm ci") && row.contains(".fleet/config.toml"), "{row}");
    assert_eq!(world.fleet.json(&["trust", "--yes"])["trusted"], true);
    assert_eq!(world.fleet.ok(&["config", "--validate"]), "configuration OK\n");

    let again = world.fleet.fail(2, &["init", "--yes", "--json"]);
    let (_, message, hints) = error(&again);
    assert!(message.contains("exists already") && hints.contains("--force"), "{message} {hints}");
    let replaced = world.fleet.json(&["init", "--yes", "--force", "--type", "minimal"]);
    assert_eq!(replaced["type"], "minimal");
    let backup = fs::read_to_string(replaced["backup"].as_str().unwrap()).unwrap();
    assert!(backup.contains("npm ci"), "{backup}");
    assert_eq!(replaced["gitignore"], serde_json::json!([]), "it has them");
}

#[test]
fn outside_a_repository_and_through_a_link_nothing_is_written() {
    let world = World::sqlite();
    let outside = world.fleet.cwd(world.fleet.user_home());
    assert_eq!(error(&outside.fail(3, &["init", "--yes", "--json"])).0, "not-a-repository");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), world.repo.path().join(".fleet")).unwrap();
    let refused = world.fleet.run(&["init", "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("is a link"), "{refused:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn the_home_of_another_fleet_is_left_alone_until_it_is_taken_over() {
    let world = World::sqlite();
    fs::write(world.fleet.home().join("runtime.toml"), "max_concurrent = 2\ncoder = \"codex\"\n").unwrap();
    for command in
        [&["list"][..], &["config", "set", "agent", "demo"], &["run", "--until-idle"], &["task", "add", "x"]]
    {
        let refused = world.fleet.fail(4, &[command, &["--json"]].concat());
        let (code, _, hints) = error(&refused);
        assert!(code == "foreign-home" && hints.contains("fleet init --migrate"), "{command:?}: {refused:?}");
    }
    assert_eq!(fs::read_dir(world.fleet.home()).unwrap().count(), 1, "nothing was written");
    let done = world.fleet.ok(&["init", "--migrate", "--yes"]);
    assert!(done.contains("agent = codex") && done.contains("runtime.toml.backup"), "{done}");
    assert_eq!(world.fleet.ok(&["config", "get", "runner.slots"]), "2\n");
    let nothing = world.fleet.ok(&["init", "--migrate"]);
    assert!(nothing.starts_with("nothing to migrate"), "{nothing}");
}
