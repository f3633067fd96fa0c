//! The variables of the Python `codefleet`.

use std::time::Duration;

use super::World;

fn world(pairs: &[(&str, &str)]) -> World {
    World::new().variables(pairs)
}

#[test]
fn each_sets_what_it_means_here() {
    for (variable, text, key, value) in [
        ("FLEET_DEFAULT_EXECUTOR", "codex", "agent", "codex"),
        ("FLEET_DEFAULT_MODEL", "gpt-5.5", "agents.codex.model", "gpt-5.5"),
        (
            "FLEET_GEMINI_DEFAULT_MODEL",
            "gemini-3.1-pro-preview",
            "agents.gemini.model",
            "gemini-3.1-pro-preview",
        ),
        ("FLEET_CLAUDE_DEFAULT_MODEL", "claude-sonnet-4-6", "agents.claude.model", "claude-sonnet-4-6"),
        ("FLEET_REASONING_EFFORT", "max", "agents.codex.effort", "xhigh"),
        ("FLEET_REASONING_EFFORT", "max", "agents.claude.effort", "max"),
        ("FLEET_REASONING_EFFORT", "minimal", "agents.codex.effort", "minimal"),
        ("FLEET_REASONING_EFFORT", "minimal", "agents.claude.effort", "low"),
        ("FLEET_DEFAULT_TIMEOUT", "600", "limits.time", "600s"),
        ("FLEET_MAX_CONCURRENT", "50", "runner.slots", "50"),
        ("FLEET_MAX_SPAWN_DEPTH", "0", "spawn_depth", "0"),
        ("FLEET_ALLOWED_REPOS", "~/code, /srv/shop", "allowed_repos", r#"["~/code", "/srv/shop"]"#),
        ("FLEET_RATE_LIMIT_MAX_RETRIES", "3", "rate_limit.retries", "3"),
        ("FLEET_RATE_LIMIT_BASE_DELAY", "4.0", "rate_limit.first_pause", "4s"),
        ("FLEET_RATE_LIMIT_MAX_DELAY", "60.5", "rate_limit.longest_pause", "60500ms"),
        ("FLEET_STALE_TIMEOUT", "180", "limits.idle", "180s"),
        ("FLEET_STALE_TIMEOUT", "0", "limits.idle", "none"),
        ("FLEET_STALE_MAX_RESTARTS", "2", "tasks.retries", "2"),
    ] {
        let setting = world(&[(variable, text)]).load().unwrap().get(key).unwrap();
        let shown = (setting.value.to_string(), setting.origin.to_string());
        assert_eq!(shown, (value.to_owned(), variable.to_owned()), "{variable}={text}");
    }
    let report = world(&[("FLEET_HEARTBEAT_INTERVAL", "30"), ("FLEET_BASE_DIR", "~/x")]).validate();
    assert_eq!((report.problems.len(), report.warnings.len()), (0, 0), "nothing depends on the first");
    let limits = world(&[("FLEET_STALE_TIMEOUT", "0.25")]).load().unwrap().limits().clone();
    assert_eq!(limits.idle, Some(Duration::from_millis(250)));
}

#[test]
fn our_own_variables_and_flags_come_before_them_and_files_after() {
    let world = world(&[("FLEET_DEFAULT_EXECUTOR", "codex")]).user("agent = 'gemini'");
    assert_eq!(world.load().unwrap().agent(), "codex");
    let both = World::new().variables(&[("FLEET_AGENT", "claude"), ("FLEET_DEFAULT_EXECUTOR", "codex")]);
    assert_eq!(both.load().unwrap().agent(), "claude");
    assert_eq!(both.flags(&["agent=gemini"]).load().unwrap().agent(), "gemini");
    assert_eq!(World::new().variables(&[("FLEET_DEFAULT_EXECUTOR", "")]).load().unwrap().agent(), "claude");
}

#[test]
fn what_is_wrong_is_told_with_the_variable_the_value_and_what_is_allowed() {
    let wrong = world(&[
        ("FLEET_ALLOWED_REPOS", "code"),
        ("FLEET_DEFAULT_EXECUTOR", "Codex"),
        ("FLEET_DEFAULT_MODEL", "a model"),
        ("FLEET_DEFAULT_TIMEOUT", "-1"),
        ("FLEET_HEARTBEAT_INTERVAL", "often"),
        ("FLEET_MAX_CONCURRENT", "0"),
        ("FLEET_MAX_SPAWN_DEPTH", "-1"),
        ("FLEET_RATE_LIMIT_BASE_DELAY", "NaN"),
        ("FLEET_RATE_LIMIT_MAX_DELAY", "1e9"),
        ("FLEET_RATE_LIMIT_MAX_RETRIES", "3.5"),
        ("FLEET_REASONING_EFFORT", "ultra\u{1b}"),
        ("FLEET_STALE_MAX_RESTARTS", "many"),
        ("FLEET_STALE_TIMEOUT", "5m"),
    ]);
    insta::assert_snapshot!(wrong.problems());
}
