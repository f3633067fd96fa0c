use std::collections::BTreeSet;

use crate::config::names::{self, NamedKey, Variable, is_agent_name};
use crate::config::value::ConfigValue;
use crate::config::{keys, template};

use super::World;

#[test]
fn the_table_is_sound() {
    let mut names = BTreeSet::new();
    for key in keys::all() {
        assert!(names.insert(key.name), "{} stands twice", key.name);
        assert!(key.doc.ends_with('.') && !key.doc.contains('\n'), "{}: one sentence, please", key.name);
        let parts: Vec<&str> = key.name.split('.').collect();
        let wild: Vec<usize> = (0..parts.len()).filter(|at| parts[*at] == "*").collect();
        assert!(matches!((wild.as_slice(), parts.len()), ([], _) | ([1], 3) | ([1, 3], 4)), "{}", key.name);
        if let Some(default) = key.default {
            let value = ConfigValue::from_text(key.kind, default).unwrap();
            assert_eq!(
                ConfigValue::from_toml(key.kind, &value.to_toml().unwrap()).unwrap(),
                value,
                "{}",
                key.name
            );
        }
    }
}

#[test]
fn every_key_has_one_variable_but_those_about_variables() {
    for key in keys::all() {
        let name = key.name_for("my_agent2", "NAME");
        let suffix = name.replace('.', "_").to_ascii_uppercase();
        match names::variable(&suffix) {
            Variable::Sets(found, set) => assert_eq!((found.name, set), (key.name, name)),
            Variable::Unknown(_) => assert_eq!(key.name, "agents.*.env.*"),
            Variable::NotConfiguration | Variable::Earlier => panic!("FLEET_{suffix} does not set {name}"),
        }
    }
}

#[test]
fn some_variables_are_not_settings() {
    for reserved in ["HOME", "RUN", "RUN_DIR", "DOOR", "TASK", "PROJECT", "PORT", "PORTS", "TEST_POSTGRES"] {
        assert!(matches!(names::variable(reserved), Variable::NotConfiguration), "{reserved}");
    }
    let meant = |suffix| match names::variable(suffix) {
        Variable::Unknown(meant) => meant,
        _ => panic!("{suffix} is known"),
    };
    assert_eq!(meant("TASK_PRIORITY").as_deref(), Some("TASKS_PRIORITY"));
    assert_eq!(meant("AGENTS_CLAUDE_MODLE").as_deref(), Some("AGENTS_CLAUDE_MODEL"));
    assert_eq!(meant("AGENTS_MY_OWN_PAS_ENV").as_deref(), Some("AGENTS_MY_OWN_PASS_ENV"));
    assert_eq!(meant("AGENTS__X_MODEL").as_deref(), None);
    assert_eq!(meant("AGENTS_CLAUDE_ENV_GREETING").as_deref(), None);
    assert_eq!(meant("BANANA"), None);
    assert_eq!(meant(""), None);
}

#[test]
fn segments_name_keys_sections_or_nothing() {
    let name = |segments: &[&str]| match names::named(segments) {
        NamedKey::Key(key) => key.name,
        NamedKey::Section => "section",
        NamedKey::Nothing(_) => "nothing",
    };
    assert_eq!(name(&["store"]), "store");
    assert_eq!(name(&["agents", "claude", "cap"]), "agents.*.cap");
    assert_eq!(name(&["agents", "Claude", "cap"]), "nothing");
    assert_eq!(name(&["agents", "a.b", "cap"]), "nothing");
    assert_eq!(name(&["agents", "claude", "env", "cap"]), "agents.*.env.*");
    assert_eq!(name(&["agents", "Claude", "env", "A"]), "nothing");
    assert_eq!(name(&["agents", "claude", "env", "1A"]), "nothing");
    assert_eq!(name(&["agents", "claude", "env", "A-B"]), "nothing");
    assert_eq!(name(&["agents", "claude", "env", "A", "B"]), "nothing");
    assert_eq!(name(&["agents", "claude", "env"]), "section");
    assert_eq!(name(&["tasks"]), "section");
    assert_eq!(name(&["agents", "claude"]), "section");
    assert_eq!(name(&["tasks.priority"]), "nothing");
    assert_eq!(name(&["tasks", "priority", "x"]), "nothing");
    assert_eq!(name(&[""]), "nothing");
}

#[test]
fn agents_have_plain_names() {
    for good in ["claude", "a", "0x", "my-agent_2", &"a".repeat(32)] {
        assert!(is_agent_name(good), "{good}");
    }
    for bad in ["", "-a", "_a", "Claude", "a.b", "a b", "ä", &"a".repeat(33)] {
        assert!(!is_agent_name(bad), "{bad}");
    }
}

#[test]
fn the_template_shows_every_key_and_sets_none() {
    insta::assert_snapshot!("template", template());
    let defaults = World::new().load().unwrap().settings();
    assert_eq!(World::new().user(template()).load().unwrap().settings(), defaults);
}

#[test]
fn every_line_of_the_template_can_be_used_as_it_is() {
    let used: Vec<String> = template()
        .lines()
        .filter_map(|line| line.strip_prefix("# ").filter(|line| line.contains(" = ")))
        .map(str::to_owned)
        .collect();
    assert_eq!(used.len(), keys::all().count());
    let world = World::new().user(used.join("\n"));
    assert_eq!(world.problems(), "");
    let defaults = World::new().load().unwrap();
    let has_default = |name: &str| !name.starts_with("agents.");
    for setting in world.load().unwrap().settings().iter().filter(|setting| has_default(&setting.key)) {
        assert_eq!(setting.value, defaults.get(&setting.key).unwrap().value, "{}", setting.key);
    }
}
