use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt as _;

use fleet_core::schedule::Caps;

use crate::config::{Color, ConfigValue, Origin, keys};
use crate::environment::Environment;

use super::{World, views};

const STORE: &str = "postgres://ada:hunter2@db/fleet";

/// The settings that somebody has set.
fn shown(world: &World) -> String {
    let mut out = String::new();
    for setting in world.load().unwrap().settings().iter().filter(|one| one.origin != Origin::Default) {
        writeln!(out, "{} = {} ({})", setting.key, setting.value, setting.origin).unwrap();
    }
    out.replace(world.folder.path().to_str().unwrap(), "/x")
}

#[test]
fn without_anything_there_are_defaults() {
    let world = World::new();
    let config = world.load().unwrap();
    for (key, default) in keys::all().filter_map(|key| Some((key, key.default?))) {
        let setting = config.get(key.name).unwrap();
        assert_eq!(
            (setting.value, setting.origin),
            (ConfigValue::from_text(key.kind, default).unwrap(), Origin::Default)
        );
    }
    assert_eq!(shown(&world), "");
    assert!(world.validate().files.is_empty());
}

#[test]
fn later_layers_win() {
    let world = World::new()
        .user("store = 'sqlite:/a'\nagent = 'codex'\ncolor = 'never'\n\n[tasks]\npriority = 1\nretries = 1\n")
        .project("agent = 'gemini'\ntasks.priority = 2\n[agents.claude]\nmodel = 'opus'\n")
        .variables(&[("FLEET_TASKS_PRIORITY", "4"), ("FLEET_AGENTS_MY_OWN_CAP", "7"), ("FLEET_COLOR", "")])
        .flags(&["tasks.priority=4", "tasks.priority=5", "agents.codex.model=gpt=5"]);
    insta::assert_snapshot!(shown(&world), @"
    store = sqlite:/a (/x/user.toml:1)
    agent = gemini (/x/project.toml:1)
    color = never (/x/user.toml:3)
    tasks.priority = 5 (--config)
    tasks.retries = 1 (/x/user.toml:7)
    agents.claude.model = opus (/x/project.toml:4)
    agents.codex.model = gpt=5 (--config)
    agents.my_own.cap = 7 (FLEET_AGENTS_MY_OWN_CAP)
    ");
    let files = world.validate().files;
    assert_eq!(
        files,
        [world.user_file(), world.project_file()].map(|file| file.path().display().to_string())
    );
}

#[test]
fn every_way_to_write_a_table_is_read() {
    for text in [
        "[agents.claude]\nmodel = 'm'\n",
        "[agents]\nclaude.model = 'm'\n",
        "[agents]\nclaude = { model = 'm' }\n",
        "agents.claude.model = 'm'\n",
        "agents = { claude.model = \"m\" }",
        "\"agents\".'claude' . model = '''m'''",
        "\u{feff}agents.claude.model = 'm'\r\n",
    ] {
        let world = World::new().user(text);
        assert_eq!(world.problems(), "", "{text}");
        assert_eq!(world.load().unwrap().model_for("claude"), Some("m"), "{text}");
    }
}

#[test]
fn lines_are_those_of_the_keys() {
    let world = World::new().user("# one\n\n[tasks] # three\n# four\nretries = \\\n".replace('\\', "5"));
    let setting = world.load().unwrap().get("tasks.retries").unwrap();
    assert!(setting.origin.to_string().ends_with("/user.toml:5"), "{}", setting.origin);
}

#[test]
fn a_variable_that_is_empty_counts_as_unset() {
    let world = World::new().user("store = 'sqlite:/a'").variables(&[("FLEET_STORE", "")]);
    assert_eq!(world.load().unwrap().store(), "sqlite:/a");
}

#[test]
fn settings_come_as_what_they_are() {
    let world = World::new().user(format!(
        "store = '{STORE}'\ncolor = 'always'\ncaps = {{ total = 8, per_project = 0 }}\n\
         [agents]\nclaude = {{ cap = 3, model = 'opus' }}\ncodex.cap = 0\n"
    ));
    let config = world.load().unwrap();
    assert_eq!((config.store(), config.agent(), config.general().color), (STORE, "claude", Color::Always));
    assert_eq!((config.tasks().priority, config.tasks().retries, config.tasks().list_limit), (3, 2, 50));
    let per_agent = [("claude".to_owned(), 3)].into();
    assert_eq!(config.caps(), Caps { total: Some(8), per_project: None, per_agent });
    assert_eq!((config.model_for("claude"), config.model_for("codex")), (Some("opus"), None));
}

#[test]
fn a_key_that_is_not_set_is_null() {
    let config = World::new().load().unwrap();
    let setting = config.get("agents.claude.model").unwrap();
    assert_eq!(setting.value, ConfigValue::Unset);
    assert_eq!(
        serde_json::to_string(&setting.view()).unwrap(),
        r#"{"key":"agents.claude.model","value":null,"origin":{"kind":"default"}}"#
    );
}

#[test]
fn settings_serialise_with_their_origin() {
    let world = World::new()
        .user(format!("store = '{STORE}'"))
        .project("\ntasks.retries = 4")
        .variables(&[("FLEET_TASKS_PRIORITY", "4")])
        .flags(&["agent=codex"]);
    let config = world.load().unwrap();
    let lines: Vec<String> = ["store", "tasks.retries", "tasks.priority", "agent", "color"]
        .iter()
        .map(|name| serde_json::to_string(&config.get(name).unwrap().view()).unwrap())
        .collect();
    insta::assert_snapshot!(lines.join("\n").replace(world.folder.path().to_str().unwrap(), "/x"), @r#"
    {"key":"store","value":"postgres://ada:***@db/fleet","origin":{"kind":"user","path":"/x/user.toml","line":1}}
    {"key":"tasks.retries","value":4,"origin":{"kind":"project","path":"/x/project.toml","line":2}}
    {"key":"tasks.priority","value":4,"origin":{"kind":"environment","variable":"FLEET_TASKS_PRIORITY"}}
    {"key":"agent","value":"codex","origin":{"kind":"flag"}}
    {"key":"color","value":"auto","origin":{"kind":"default"}}
    "#);
}

#[test]
fn a_password_is_seen_only_by_those_who_ask() {
    let world = World::new().flags(&[&format!("store={STORE}?sslpassword=hunter2")]);
    let config = world.load().unwrap();
    let setting = config.get("store").unwrap();
    let shown = format!("{config:?} {config:#?} {setting:?} {} {}", setting.value, views(&config));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(setting.value.to_string(), "postgres://ada:***@db/fleet?sslpassword=***");
    let whole = format!("{STORE}?sslpassword=hunter2");
    assert_eq!(setting.value.revealed(), ConfigValue::String(whole.clone()));
    assert_eq!(config.store(), whole);
}

#[test]
fn somebody_whose_home_is_a_repository_has_one_file() {
    let world = World::new().user("store = 'sqlite:/a'");
    std::fs::hard_link(world.user_file().path(), world.project_file().path()).unwrap();
    assert_eq!(world.problems(), "");
    assert_eq!(world.validate().files.len(), 1);
    let mut sources = world.sources();
    sources.project_file = Some(sources.user_file.clone());
    assert!(crate::config::Config::load(&sources).is_ok());
}

#[test]
fn unknown_variables_are_warnings() {
    let world = World::new().variables(&[
        ("FLEET_HOME", "/x"),
        ("FLEET_RUN", "r1"),
        ("FLEET_TEST_POSTGRES", "1"),
        ("FLEET_COLOUR", "never"),
        ("FLEET_BANANA", "\u{1b}"),
    ]);
    assert!(world.load().is_ok());
    let report = world.validate();
    assert!(report.problems.is_empty());
    insta::assert_snapshot!(report.warnings.join("\n"), @"
    `FLEET_BANANA` is not a setting
    `FLEET_COLOUR` is not a setting; did you mean `FLEET_COLOR`?
    ");
}

#[test]
fn a_variable_that_is_not_text_matters_only_when_it_is_a_setting() {
    let odd = OsString::from_vec(vec![0xff]);
    let mut world = World::new();
    world.environment = Environment::from_pairs([("FLEET_RUN", odd.clone()), ("FLEET_BANANA", odd.clone())]);
    assert!(world.load().is_ok());
    world.environment = Environment::from_pairs([("FLEET_AGENT", odd)]);
    assert_eq!(world.problems(), "config-invalid: FLEET_AGENT: the value is not UTF-8");
}
