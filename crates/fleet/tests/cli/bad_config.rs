//! Wrong configuration: the place is named, and nothing is made in the meantime.

use fleet_testkit::fleet::Fleet;

use super::support::{World, error};

/// Runs `task add`, which must be refused with this code and say all of these parts.
#[track_caller]
fn refuses(fleet: &Fleet, flags: &[&str], code: &str, parts: &[&str]) {
    let mut arguments = flags.to_vec();
    arguments.extend(["task", "add", "x", "--json"]);
    let output = fleet.fail(6, &arguments);
    let (found, message, hints) = error(&output);
    assert_eq!(found, code, "{message}");
    for part in parts {
        assert!(format!("{message}\n{hints}").contains(part), "{part}: {message}\n{hints}");
    }
    assert!(!fleet.home().join("fleet.db").exists(), "no store is made before the configuration is right");
}

#[test]
fn a_wrong_file_is_named_with_its_line() {
    let world = World::sqlite();
    let file = world.fleet.home().join("config.toml");
    let cases: [(&str, &str, &[&str]); 5] = [
        ("agent = \"codex\"\n[tasks\n", "config-invalid", &["config.toml:2", "not valid TOML"]),
        (
            "[tasks]\nprioritee = 3\n",
            "config-unknown-key",
            &["config.toml:2", "`tasks.prioritee`", "did you mean `tasks.priority`?"],
        ),
        ("[tasks]\npriority = \"4\"\n", "config-invalid", &["config.toml:2", "whole number from 1 to 5"]),
        ("[tasks]\npriority = 9\n", "config-invalid", &["config.toml:2", "not `9`"]),
        ("\u{1b}[2J = 1\n", "config-invalid", &["config.toml:1"]),
    ];
    for (text, code, parts) in cases {
        std::fs::write(&file, text).unwrap();
        refuses(&world.fleet, &[], code, parts);
    }
    std::fs::write(&file, b"agent = \"\xff\"").unwrap();
    refuses(&world.fleet, &[], "config-invalid", &["config.toml", "UTF-8"]);
}

#[test]
fn a_repository_cannot_choose_the_store() {
    let world = World::sqlite();
    world.repo.write(".fleet/config.toml", "agent = \"codex\"\nstore = \"sqlite:/elsewhere\"\n");
    refuses(
        &world.fleet,
        &[],
        "config-invalid",
        &[".fleet/config.toml:2: `store` cannot be set by a project", "fleet config set store"],
    );
}

#[test]
fn a_wrong_variable_or_flag_is_named() {
    let world = World::sqlite();
    let set = |name: &str, value: &str, part: &str| {
        refuses(&world.fleet.env(name, value), &[], "config-invalid", &[name, part]);
    };
    set("FLEET_TASKS_PRIORITY", "high", "whole number from 1 to 5, not `high`");
    set("FLEET_COLOR", "sometimes", "auto");
    set("FLEET_STORE", "mysql://ada:geheim@db/x", "not `mysql://…`");
    set("FLEET_AGENT", "A b", "agent");
    let flag = |given: &str, code: &str, part: &str| {
        refuses(&world.fleet, &["-c", given], code, &["--config", part]);
    };
    flag("tasks.priority=9", "config-invalid", "not `9`");
    flag("tasks.priority", "config-invalid", "KEY=VALUE");
    flag("tasks.priorty=4", "config-unknown-key", "did you mean `tasks.priority`?");
    flag("\u{7}=4", "config-unknown-key", "unknown key");
    flag("tasks=4", "config-unknown-key", "section");
}
