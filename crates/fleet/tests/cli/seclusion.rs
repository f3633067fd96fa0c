//! What agents, and commands that run what agents wrote, see of the user and of codefleet.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use fleet_testkit::fleet::Fleet;
use fleet_testkit::wait_until;
use serde_json::json;

use super::support::World;

/// For slow machines; it comes within seconds.
const SOON: Duration = Duration::from_mins(2);

/// Writes down what it sees, and how its keeper was started.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
env > "$HOME/seen-by-agent"
{ tr '\0' ' ' < "/proc/$PPID/cmdline" || ps -ww -o args= -p "$PPID"; } > "$HOME/keeper" 2> /dev/null
cat "/proc/$PPID/environ" > "$HOME/stolen" 2> /dev/null
echo x > x
"#;

struct Ended(Fleet);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.run(&["stop", "--agents"]);
    }
}

fn seen(home: &Path, by: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(home.join(format!("seen-by-{by}"))).unwrap();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn nobody_sees_more_than_is_for_him() {
    let world = World::sqlite();
    let (home, program) = (world.fleet.user_home().to_owned(), world.fleet.user_home().join("agent"));
    fs::write(&program, AGENT).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let secrets = ["MY_API_KEY", "ANTHROPIC_API_KEY", "DATABASE_URL", "XDG_RUNTIME_DIR", "FLEET_SPAWN_DEPTH"];
    let fleet = secrets.iter().fold(world.fleet.clone(), |fleet, name| fleet.env(name, "7"));
    let _ended = Ended(fleet.clone());
    for (key, value) in [
        ("agents.mine.program", program.to_str().unwrap()),
        ("agents.mine.output", "lines"),
        ("agents.mine.prompt", "stdin"),
        ("agents.mine.pass_env", "MY_API_KEY, ANTHROPIC_*"),
        ("agents.mine.env.OTHER_KEY", "8"),
        ("workspaces.pass_env", "DATABASE_URL"),
        ("workspaces.setup", "env > \"$HOME/seen-by-setup\""),
        ("tasks.retries", "0"),
    ] {
        fleet.ok(&["config", "set", key, value]);
    }
    let check = json!(["sh", "-c", "env > \"$HOME/new\" && mv \"$HOME/new\" \"$HOME/seen-by-check\""]);
    let stage = json!({"agent": "mine", "prompt": "Do it", "retries": 0, "checks": [check]});
    let file = home.join("flow.json");
    fs::write(&file, json!({"name": "flow", "task": "Do it", "stages": {"one": stage}}).to_string()).unwrap();
    let store = format!("store=sqlite:{}", home.join("hunter2.db").display());
    fleet.ok(&["-c", &store, "workflow", "run", file.to_str().unwrap(), "--detach"]);
    let runner = fleet.json(&["-c", &store, "start", "--slots", "2"]);
    wait_until(SOON, "the check runs", || home.join("seen-by-check").exists());

    let agent = seen(&home, "agent");
    for name in ["MY_API_KEY", "ANTHROPIC_API_KEY", "OTHER_KEY", "FLEET_DOOR", "FLEET_RUN"] {
        assert!(agent.contains_key(name), "{name}: {agent:?}");
    }
    let ours: Vec<&str> = agent.keys().filter_map(|name| name.strip_prefix("FLEET_")).collect();
    let told = ["BASE", "BIN", "BRANCH", "DOOR", "PORT", "PORT_COUNT", "PROJECT", "RUN", "TASK", "WORKSPACE"];
    assert_eq!(ours, told);
    for name in ["XDG_RUNTIME_DIR", "DATABASE_URL"] {
        assert!(!agent.contains_key(name), "{name}: {agent:?}");
    }
    for by in ["setup", "check"] {
        let seen = seen(&home, by);
        assert!(seen.contains_key("DATABASE_URL") && seen.contains_key("FLEET_RUN"), "{by}: {seen:?}");
        for name in
            ["FLEET_DOOR", "FLEET_HOME", "FLEET_STORE", "FLEET_SETTINGS", "OTHER_KEY", "FLEET_SPAWN_DEPTH"]
        {
            assert!(!seen.contains_key(name), "{by} sees {name}: {seen:?}");
        }
        for name in ["MY_API_KEY", "ANTHROPIC_API_KEY", "XDG_RUNTIME_DIR"] {
            assert!(!seen.contains_key(name), "{by} sees {name}: {seen:?}");
        }
    }

    // Root reads everything.
    if !rustix::process::geteuid().is_root() {
        let stolen = fs::read(home.join("stolen")).unwrap();
        assert!(stolen.is_empty(), "{}", String::from_utf8_lossy(&stolen));
    }

    // A password may be in the address of a store, and everybody can read arguments.
    let keeper = fs::read_to_string(home.join("keeper")).unwrap();
    assert!(keeper.contains(" keeper ") && !keeper.contains("hunter2"), "{keeper}");
    let pid = runner["runner"]["process"]["pid"].as_i64().or(runner["pid"].as_i64());
    if let (Some(pid), true) = (pid, cfg!(target_os = "linux")) {
        let runner = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
        assert!(runner.contains("--background") && !runner.contains("hunter2"), "{runner}");
    }
}
