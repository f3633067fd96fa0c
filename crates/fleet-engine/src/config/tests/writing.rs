use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use fleet_core::problem::Code;

use super::World;
use crate::config::{ConfigFile, ConfigValue, keys, set, set_all, template, unset};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_is_private_and_leaves_nothing_beside_it() {
    let world = World::new();
    let file = ConfigFile::User(world.path("a/b/config.toml"));
    let setting = set(&file, "tasks.priority", "4").unwrap();
    assert_eq!(setting.value, ConfigValue::Integer(4));
    assert_eq!(setting.origin, file.origin(2));
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "[tasks]\npriority = 4\n");
    assert_eq!((mode(file.path()), mode(&world.path("a/b")), mode(&world.path("a"))), (0o600, 0o700, 0o700));
    assert_eq!(names(&world.path("a/b")), ["config.toml"]);
}

#[test]
fn every_key_can_be_set_in_a_template_and_taken_out_again() {
    let world = World::new().user(template());
    let pick = |name: &str| match name {
        "store" => "postgres://ada:hunter2@db/fleet",
        "agent" => "codex",
        "color" => "never",
        "launch.mode" => "interactive",
        "terminal.detach_key" => "ctrl-a",
        "agents.*.model" => "opus-\"4\"",
        "autostart" | "workspaces.keep_ignored" | "agents.*.structured" => "true",
        "allowed_repos" => "/code, ~/work",
        "limits.log" | "admission.free_memory" | "admission.free_disk" => "1MiB",
        "workspaces.copy" => ".env, config/*.key",
        "workspaces.pass_env" => "DATABASE_URL, AWS_*",
        "workspaces.setup" => "npm ci --loglevel=error,warn",
        "agents.*.pass_env" => "AWS_*",
        "agents.*.trust" => "full",
        "agents.*.aliases" => "fast=a, slow=b",
        "agents.*.prompt" => "file",
        "agents.*.error_patterns" => "auth=a, b",
        "agents.*.context_limit" => "1000",
        "limits.context_sizes" => "gpt-5*=400k",
        policy if policy.starts_with("policy.") => "pause",
        "update.url" => "https://example.org/latest",
        "ports.first" | "ports.last" => "30000",
        "ports.block" => "1",
        _ => "5",
    };
    for key in keys::all().rev() {
        let name = key.name_for("my-agent", "cap");
        let text = if key.kind.lacks_unit(pick(key.name)) { "5s" } else { pick(key.name) };
        let setting = set(&world.user_file(), &name, text).unwrap();
        assert_eq!(world.load().unwrap().get(&name).unwrap(), setting);
    }
    let config = world.load().unwrap();
    assert_eq!((config.store(), config.model_for("my-agent")), (pick("store"), Some("opus-\"4\"")));
    assert!(world.text().starts_with(&template()), "{}", world.text());
    for key in keys::all() {
        let name = key.name_for("my-agent", "cap");
        assert!(unset(&world.user_file(), &name).unwrap(), "{name}");
        assert!(!unset(&world.user_file(), &name).unwrap(), "{name}");
    }
    assert_eq!(world.load().unwrap().settings(), World::new().load().unwrap().settings());
}

#[test]
fn the_mode_of_a_file_stays() {
    let world = World::new().user("agent = 'a'\n");
    fs::set_permissions(world.user_file().path(), fs::Permissions::from_mode(0o640)).unwrap();
    set(&world.user_file(), "agent", "b").unwrap();
    assert_eq!((mode(world.user_file().path()), world.text().as_str()), (0o640, "agent = \"b\"\n"));
}

#[test]
fn a_link_stays_a_link() {
    let world = World::new();
    fs::create_dir(world.path("dotfiles")).unwrap();
    symlink("dotfiles/config.toml", world.user_file().path()).unwrap();
    for value in ["a", "b"] {
        set(&world.user_file(), "agent", value).unwrap();
        let target = fs::read_to_string(world.path("dotfiles/config.toml")).unwrap();
        assert_eq!(target, format!("agent = \"{value}\"\n"));
        assert!(fs::symlink_metadata(world.user_file().path()).unwrap().is_symlink());
    }
    assert_eq!(names(&world.path("dotfiles")), ["config.toml"]);
}

#[test]
fn a_circle_of_links_and_a_lock_that_is_a_link_are_refused() {
    let world = World::new();
    symlink("user.toml", world.user_file().path()).unwrap();
    assert_eq!(set(&world.user_file(), "agent", "a").unwrap_err().code, Code::Io);

    let world = World::new();
    symlink("elsewhere", world.path(".user.toml.lock")).unwrap();
    assert_eq!(set(&world.user_file(), "agent", "a").unwrap_err().code, Code::Io);
    assert!(!world.path("elsewhere").exists());
}

#[test]
fn what_a_crash_left_behind_does_not_matter() {
    let world = World::new().user("agent = 'a'\n");
    fs::write(world.path(".user.toml.new"), "half").unwrap();
    fs::write(world.path(".user.toml.lock"), "").unwrap();
    set(&world.user_file(), "agent", "b").unwrap();
    assert_eq!(world.text(), "agent = \"b\"\n");
    assert_eq!(names(world.folder.path()), ["user.toml"]);
}

#[test]
fn a_file_that_does_not_parse_is_left_alone() {
    let broken = "agent = 'a'\ntasks = [\n";
    let world = World::new().user(broken);
    for problem in
        [set(&world.user_file(), "agent", "b").unwrap_err(), unset(&world.user_file(), "agent").unwrap_err()]
    {
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.shown(&problem), @"config-invalid: /x/user.toml:2:10: not valid TOML: unclosed array, expected `]`");
        }
    }
    assert_eq!(world.text(), broken);
    assert_eq!(names(world.folder.path()), ["user.toml"]);
}

#[test]
fn a_file_with_other_problems_can_be_mended() {
    let world = World::new().user("banana = 1\ntasks.priority = 9\n");
    set(&world.user_file(), "tasks.priority", "4").unwrap();
    assert!(unset(&world.user_file(), "banana").unwrap());
    assert_eq!(world.text(), "tasks.priority = 4\n");
}

#[test]
fn a_wrong_request_changes_nothing() {
    let world = World::new();
    let user = ConfigFile::User(world.path("new/config.toml"));
    let tell = |outcome: Result<(), _>| world.shown(&outcome.unwrap_err());
    insta::assert_snapshot!(tell(set(&user, "tasks.priority", "9").map(drop)), @"config-invalid: `tasks.priority` must be a whole number from 1 to 5, not `9`");
    insta::assert_snapshot!(tell(set(&user, "task.priority", "3").map(drop)), @"
    config-unknown-key: unknown key `task.priority`
      hint: did you mean `tasks.priority`?
      hint: `fleet config show` lists the keys
    ");
    insta::assert_snapshot!(tell(unset(&user, "task.priority").map(drop)), @"
    config-unknown-key: unknown key `task.priority`
      hint: did you mean `tasks.priority`?
      hint: `fleet config show` lists the keys
    ");
    insta::assert_snapshot!(tell(set(&world.project_file(), "caps.total", "3").map(drop)), @"
    config-invalid: `caps.total` cannot be set by a project
      hint: `fleet config set caps.total VALUE` sets it for yourself
    ");
    assert!(names(world.folder.path()).is_empty());
    assert!(!unset(&user, "agent").unwrap());

    let world = world.user("[tasks]\nx.y = 1\n");
    insta::assert_snapshot!(world.shown(&unset(&world.user_file(), "tasks").unwrap_err()), @"
    config-unknown-key: `tasks` is a section, not a key
      hint: its keys are `tasks.priority`, `tasks.retries`, `tasks.check_retries`, `tasks.branch_prefix`, `tasks.list_limit`
      hint: `fleet config show` lists the keys
    ");
    assert_eq!(world.text(), "[tasks]\nx.y = 1\n");
}

#[test]
fn a_mark_in_front_stays_in_front() {
    let world = World::new().user("\u{feff}[tasks]\r\npriority = 1\r\n");
    set(&world.user_file(), "agent", "a").unwrap();
    set(&world.user_file(), "tasks.priority", "2").unwrap();
    assert_eq!(world.text(), "\u{feff}agent = \"a\"\r\n\r\n[tasks]\r\npriority = 2\r\n");
    assert!(unset(&world.user_file(), "agent").unwrap());
    assert_eq!(world.text(), "\u{feff}\r\n[tasks]\r\npriority = 2\r\n");
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let world = World::new();
    fs::write(world.path("file"), "").unwrap();
    let problem = set(&ConfigFile::User(world.path("file/config.toml")), "agent", "a").unwrap_err();
    insta::assert_snapshot!(world.shown(&problem), @"io: /x/file/config.toml: cannot be written: Not a directory (os error 20)");
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let world = World::new().user("# kept\n");
    let agents: Vec<String> = (0..20).map(|number| format!("agent{number}")).collect();
    std::thread::scope(|scope| {
        for agent in &agents {
            let file = world.user_file();
            scope.spawn(move || {
                set(&file, &format!("agents.{agent}.model"), agent).unwrap();
                set(&file, &format!("agents.{agent}.cap"), "7").unwrap();
                set(&file, "agent", agent).unwrap();
                unset(&file, &format!("agents.{agent}.cap")).unwrap();
            });
        }
        // Whoever reads meanwhile sees a whole file.
        for _ in 0..50 {
            assert_eq!(world.problems(), "");
        }
    });
    let config = world.load().unwrap();
    for agent in &agents {
        assert_eq!(config.model_for(agent), Some(agent.as_str()));
    }
    assert!(config.caps().per_agent.is_empty() && agents.iter().any(|agent| agent == config.agent()));
    assert!(world.text().starts_with("# kept\n"));
    assert_eq!(names(world.folder.path()), ["user.toml"]);
}

#[test]
fn several_values_are_set_or_none() {
    let world = World::new().user("# mine\nagent = 'codex'\n");
    let before = world.text();
    let refused = set_all(&world.user_file(), &[("runner.slots", "3"), ("tasks.priority", "9")]).unwrap_err();
    assert_eq!((refused.code, world.text()), (Code::ConfigInvalid, before));
    let new = [
        ("runner.slots", "3"),
        ("tasks.priority", "2"),
        ("agents.codex.model", "a\"b"),
        ("runner.slots", "4"),
    ];
    let set: Vec<String> =
        set_all(&world.user_file(), &new).unwrap().into_iter().map(|setting| setting.key).collect();
    assert_eq!(
        set,
        ["tasks.priority", "agents.codex.model", "runner.slots"],
        "the last value of a key counts"
    );
    let config = world.load().unwrap();
    assert_eq!((config.runner().configured_slots, config.model_for("codex")), (4, Some("a\"b")));
    assert!(world.text().starts_with("# mine\nagent = 'codex'\n"), "{}", world.text());
}
