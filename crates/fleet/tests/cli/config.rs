//! Settings: who wins, what stays, and that passwords stay secret.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::support::World;

#[test]
fn later_layers_win_and_say_who_they_are() {
    let world = World::sqlite();
    let get = |fleet: &fleet_testkit::fleet::Fleet, flags: &[&str]| {
        let mut arguments = flags.to_vec();
        arguments.extend(["config", "get", "tasks.priority"]);
        let setting: Value = fleet.json(&arguments);
        (setting["value"].clone(), setting["origin"].clone())
    };
    let fleet = &world.fleet;
    assert_eq!(get(fleet, &[]), (json!(3), json!({ "kind": "default" })));
    fleet.ok(&["config", "set", "tasks.priority", "1"]);
    let user = fleet.home().join("config.toml");
    assert_eq!(get(fleet, &[]), (json!(1), json!({ "kind": "user", "path": user, "line": 2 })));
    fleet.ok(&["config", "set", "tasks.priority", "2", "--in-project"]);
    let (value, origin) = get(fleet, &[]);
    assert_eq!((value, &origin["kind"], &origin["line"]), (json!(2), &json!("project"), &json!(2)));
    let shell = fleet.env("FLEET_TASKS_PRIORITY", "4");
    let environment = json!({ "kind": "environment", "variable": "FLEET_TASKS_PRIORITY" });
    assert_eq!(get(&shell, &[]), (json!(4), environment));
    assert_eq!(get(&shell, &["-c", "tasks.priority=5"]), (json!(5), json!({ "kind": "flag" })));
    let shown = shell.ok(&["config", "show", "--show-origin", "-c", "tasks.retries=0"]);
    let line = |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap().split_whitespace();
    let words = |key: &str| line(key).collect::<Vec<_>>();
    assert_eq!(words("tasks.priority"), ["tasks.priority", "4", "FLEET_TASKS_PRIORITY"], "{shown}");
    assert_eq!(words("tasks.retries"), ["tasks.retries", "0", "--config"], "{shown}");
    assert_eq!(words("agent"), ["agent", "claude", "default"], "{shown}");
    assert_eq!(shell.json(&["task", "add", "x"])["priority"], 4, "and commands follow it");
}

#[test]
fn set_and_unset_keep_what_people_wrote() {
    let world = World::sqlite();
    let file = world.fleet.home().join("config.toml");
    let text = "# mine\nagent = \"codex\"   # the quick one\n\n[tasks] # queue\nretries = 0\n";
    fs::write(&file, text).unwrap();
    world.fleet.ok(&["config", "set", "agent", "claude"]);
    world.fleet.ok(&["config", "set", "tasks.priority", "4"]);
    let expected = text.replace("codex", "claude") + "priority = 4\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    world.fleet.ok(&["config", "unset", "tasks.priority"]);
    world.fleet.ok(&["config", "set", "agent", "codex"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(world.fleet.json(&["config", "unset", "color"])["removed"], false);
    // A key of another version can be taken out, which mends the file.
    fs::write(&file, "old_key = 1\n").unwrap();
    world.fleet.fail(6, &["task", "list"]);
    world.fleet.ok(&["config", "unset", "old_key"]);
    world.fleet.ok(&["task", "list"]);
}

#[test]
fn validate_lists_everything_that_is_wrong() {
    let world = World::sqlite();
    assert_eq!(world.fleet.ok(&["config", "validate"]), "configuration OK\n");
    let file = "colour = \"auto\"\n[tasks]\npriority = 9\nretries = \"x\"\n";
    fs::write(world.fleet.home().join("config.toml"), file).unwrap();
    world.repo.write(".fleet/config.toml", "[caps]\ntotal = 9\n");
    let fleet = world.fleet.env("FLEET_AGENT", "A b").env("FLEET_TASKS_PRIORTY", "4");
    let output = fleet.fail(6, &["-c", "nonsense", "config", "validate", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let problems: Vec<&str> =
        report["problems"].as_array().unwrap().iter().map(|one| one["message"].as_str().unwrap()).collect();
    let parts = ["`colour`", "`9`", "`tasks.retries`", "`caps.total`", "FLEET_AGENT", "--config"];
    assert_eq!(problems.len(), parts.len(), "{problems:?}");
    for (problem, part) in problems.iter().zip(parts) {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    let warnings = report["warnings"].as_array().unwrap();
    assert!(
        warnings.len() == 1 && warnings[0].as_str().unwrap().contains("FLEET_TASKS_PRIORITY"),
        "{warnings:?}"
    );
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    let human = fleet.fail(6, &["config", "validate"]).stderr;
    assert!(
        human.contains("did you mean `color`?") && human.contains("the configuration has 5 problems"),
        "{human}"
    );
}

#[test]
fn agents_that_nobody_has_heard_of_are_named_at_once() {
    let world = World::sqlite();
    let set = |key: &str, value: &str| world.fleet.run(&["config", "set", key, value]);
    let output = set("agent", "clade");
    assert_eq!(output.code, 2, "everything would wait for it");
    assert!(output.stderr.contains("did you mean `claude`?"), "{}", output.stderr);
    fs::write(world.fleet.home().join("config.toml"), "agent = 'clade'\n").unwrap();
    let warning = "`agent` names the agent `clade`, which is not known; did you mean `claude`?";
    assert!(set("fallback", r#"["codex", "nope"]"#).stderr.contains("`nope`"));
    let report = world.fleet.json(&["config", "validate"]);
    assert_eq!(report["problems"], json!([]));
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().contains(warning) && warnings[1].to_string().contains("`nope`"));
    set("agents.nope.model", "large");
    assert_eq!(set("agent", "nope").stderr, "");
    assert_eq!(world.fleet.json(&["config", "validate"])["warnings"], json!([]));
}

#[test]
fn the_password_of_the_store_is_never_shown() {
    let world = World::sqlite();
    let address = "postgres://ada:geheim@127.0.0.1:1/shop?application_name=geheim2";
    let set = world.fleet.ok(&["config", "set", "store", address]);
    assert!(set.contains("postgres://ada:***@127.0.0.1:1/shop"), "{set}");
    let file = fs::read_to_string(world.fleet.home().join("config.toml")).unwrap();
    assert!(file.contains(address), "but it is kept");
    let shell = world.fleet.env("FLEET_STORE", "postgres://ada:geheim@127.0.0.1:1/shop");
    for fleet in [&world.fleet, &shell] {
        for command in [
            &["config", "show", "--show-origin"][..],
            &["config", "get", "store"],
            &["config", "validate"],
            &["doctor"],
            &["task", "list"],
            &["events"],
        ] {
            for flag in
                [&[][..], &["--json"], &["-c", "store=postgres://x:geheim@127.0.0.1:1/y?password=geheim"]]
            {
                let output = fleet.run(&[command, flag].concat());
                let said = output.stdout + &output.stderr;
                assert!(
                    !said.contains("geheim@") && !said.contains("=geheim\""),
                    "{command:?} {flag:?}: {said}"
                );
            }
        }
    }
    for wrong in
        ["postgres:/ada:geheim@h/x", "postgres//ada:geheim@h/x", "ada:geheim@h/x", "mysql://a:geheim@h"]
    {
        let said = world.fleet.fail(6, &["config", "set", "store", wrong]).stderr;
        assert!(!said.contains("geheim"), "{said}");
    }
}

#[test]
fn a_link_of_a_repository_leads_no_write_out_of_it() {
    let world = World::sqlite();
    let elsewhere = tempfile::tempdir().unwrap();
    let victim = elsewhere.path().join("config.toml");
    fs::write(&victim, "# not ours\n").unwrap();
    let folder = world.repo.path().join(".fleet");
    fs::create_dir(&folder).unwrap();
    symlink(&victim, folder.join("config.toml")).unwrap();
    let refused = world.fleet.fail(6, &["config", "set", "--in-project", "tasks.priority", "4"]);
    assert!(refused.stderr.contains("is a link"), "{}", refused.stderr);
    fs::remove_dir_all(&folder).unwrap();
    symlink(elsewhere.path(), &folder).unwrap();
    let refused = world.fleet.fail(6, &["config", "set", "--in-project", "tasks.priority", "4"]);
    assert!(refused.stderr.contains("is a link"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "# not ours\n");
}
