//! `fleet agents`: which there are, and what is known about them.

mod trial;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{World, error};

/// A world in which no agent is installed, whatever the machine has: only git is found.
fn world() -> World {
    let mut world = World::sqlite();
    let tools = world.repo.path().join("tools");
    fs::create_dir(&tools).unwrap();
    symlink(which("git"), tools.join("git")).unwrap();
    world.fleet = world.fleet.env("PATH", &tools);
    world
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file()).unwrap()
}

/// Puts a script in the place of the demo agent's program. It notes each start in a file.
fn scripted(world: &World, script: &str) -> (PathBuf, PathBuf) {
    let (program, log) = (world.repo.path().join("program"), world.repo.path().join("log"));
    fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> '{}'\n{script}\n", log.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    world.fleet.ok(&["config", "set", "agents.demo.program", program.to_str().unwrap()]);
    (program, log)
}

fn demo(world: &World) -> Value {
    let all = world.fleet.json(&["agents"]);
    all["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "demo").unwrap().clone()
}

#[test]
fn the_built_in_agent_is_always_there() {
    let world = world();
    world.fleet.ok(&["config", "set", "agents.demo.cap", "3"]);
    let agent = demo(&world);
    assert_eq!((&agent["program"], &agent["login"]["state"]), (&Value::Null, &json!("not_needed")));
    assert_eq!((&agent["trust"], &agent["cap"]), (&json!("sandbox"), &json!(3)));
    assert_eq!(agent["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(world.fleet.json(&["agents", "list"]), world.fleet.json(&["agents"]));
    let shown = world.fleet.json(&["agents", "show", "demo"]);
    let chosen: Vec<&Value> =
        shown["trust_levels"].as_array().unwrap().iter().map(|level| &level["chosen"]).collect();
    assert_eq!(chosen, [false, true, false]);
    let text = world.fleet.ok(&["agents", "show", "demo"]);
    assert!(text.contains("enforced by: none"), "{text}");
    assert!(text.contains("* sandbox") && text.contains("fleet config set agents.demo.trust"), "{text}");
    let (code, _, hints) = error(&world.fleet.fail(3, &["agents", "show", "nobody", "--json"]));
    assert!(code == "agent-missing" && hints.contains("`demo`"), "{hints}");
}

#[test]
fn what_is_not_enforced_is_not_called_a_sandbox() {
    let world = world();
    let enforced = || {
        let all = world.fleet.env("PATH", "/nowhere").json(&["agents"]);
        let of = |name: &str| {
            all["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap()["enforced"]
                .clone()
        };
        ["claude", "codex", "gemini", "opencode", "copilot"].map(of)
    };
    assert_eq!(enforced(), ["none", "sandbox", "none", "none", "none"]);
    for agent in ["claude", "codex"] {
        world.fleet.ok(&["config", "set", &format!("agents.{agent}.trust"), "read_only"]);
    }
    assert_eq!(enforced()[..2], ["tools", "sandbox"]);
    world.fleet.ok(&["config", "set", "agents.codex.trust", "full"]);
    assert_eq!(enforced()[1], "none");
    let asks = world.fleet.ok(&["agents", "show", "copilot"]);
    assert!(asks.contains("by the tools that it has or asks for"), "{asks}");
    assert!(asks.contains("what it does without asking is not prevented"), "{asks}");
}

#[test]
fn looking_leaves_nothing_behind() {
    let world = world();
    fs::remove_dir_all(world.fleet.home()).ok();
    world.fleet.ok(&["agents"]);
    assert!(!world.fleet.home().exists());
}

#[test]
fn a_program_is_asked_once_until_it_is_another_one() {
    let world = world();
    let (program, log) = scripted(&world, "echo tool v9.8.7");
    for _ in 0..2 {
        let agent = demo(&world);
        assert_eq!((&agent["version"], &agent["path"]), (&json!("9.8.7"), &json!(program.to_str().unwrap())));
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), "--version\n");
    fs::write(&program, "#!/bin/sh\necho 10.0.1 and more\n").unwrap();
    assert_eq!(demo(&world)["version"], "10.0.1");
}

#[test]
fn a_program_that_fails_is_there_without_a_version() {
    let world = world();
    let (program, _) = scripted(&world, "echo broken >&2; exit 3");
    let agent = demo(&world);
    assert_eq!((&agent["version"], &agent["path"]), (&Value::Null, &json!(program.to_str().unwrap())));
    assert_eq!(agent["version_problem"], "it ended with status 3: broken");
    assert!(world.fleet.ok(&["agents"]).contains("unknown"));
    fs::remove_file(program).unwrap();
    let agent = demo(&world);
    assert_eq!((&agent["path"], &agent["version_problem"]), (&Value::Null, &Value::Null));
    assert!(world.fleet.ok(&["agents"]).contains("not installed"));
}

#[test]
fn a_program_sees_no_key_of_the_user() {
    let mut world = world();
    let (_, log) = scripted(&world, "echo \"1.0.${ANTHROPIC_API_KEY:-0}\"");
    world.fleet = world.fleet.env("ANTHROPIC_API_KEY", "7");
    assert_eq!(demo(&world)["version"], "1.0.0");
    assert!(log.exists());
}

#[test]
fn a_recording_is_decoded_from_a_file_or_a_pipe() {
    let world = world();
    let (out, err) = (world.repo.path().join("out"), world.repo.path().join("err"));
    let text = "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"rate_limit\",\"wait_ms\":60000}\n";
    fs::write(&out, text).unwrap();
    fs::write(&err, "a warning\n").unwrap();
    let file = ["agents", "decode", "demo", out.to_str().unwrap()];
    let told = world.fleet.json(&file);
    let outcome = json!({"ok": false, "reason": "rate_limited", "until": {"after_ms": 60000},
        "text": "the demo provider wants a pause of 60000 ms"});
    assert_eq!((&told["session"], &told["outcome"]), (&json!("s"), &outcome));
    assert_eq!(world.fleet.stdin(text).json(&["agents", "decode", "demo", "-"]), told);
    let more = ["--stderr", err.to_str().unwrap(), "--exit-code", "1"];
    let told = world.fleet.json(&[&file[..], &more].concat());
    assert_eq!((&told["unknown_lines"], &told["lines"]), (&json!(1), &json!(3)));
    assert_eq!(error(&world.fleet.fail(1, &["agents", "decode", "demo", "nothing", "--json"])).0, "io");
}

#[test]
fn prices_of_ones_own_come_first() {
    let world = world();
    let built_in = world.fleet.json(&["agents", "prices"]);
    let all = built_in["prices"].as_array().unwrap();
    let known = all.iter().find(|price| price["model"] == "gpt-5.4").unwrap();
    assert_eq!((&known["input"], &known["file"]), (&json!(2_500_000), &Value::Null));
    let file = world.fleet.home().join("prices.toml");
    fs::write(
        &file,
        "[models.'mine*']\ninput = 0.5\noutput = 1\n[models.'gpt-5.4']\ninput = 1\noutput = 2\n",
    )
    .unwrap();
    let now = world.fleet.json(&["agents", "prices"]);
    let models: Vec<&Value> = now["prices"].as_array().unwrap().iter().map(|price| &price["model"]).collect();
    assert_eq!((models[0], models[1], models.len()), (&json!("mine*"), &json!("gpt-5.4"), all.len() + 1));
    assert_eq!(now["prices"][1]["file"], file.to_str().unwrap());
    let text = world.fleet.ok(&["agents", "prices"]);
    assert!(text.contains("mine*") && text.contains("built in, 20"), "{text}");
    fs::write(&file, "[models.x]\ninput = 'much'\n").unwrap();
    let (code, message, _) = error(&world.fleet.fail(6, &["agents", "prices", "--json"]));
    assert!(
        code == "config-invalid" && message.contains("models.\"x\": `input` must be dollars"),
        "{message}"
    );
}

#[test]
fn what_an_agent_may_do_is_said_once_to_people() {
    let world = world();
    scripted(&world, "exit 0");
    let add = |more: &[&str]| {
        world.fleet.run(&[&["task", "add", "x", "--hold", "--agent", "demo"], more].concat()).stderr
    };
    for silent in [&["--json"][..], &["--quiet"], &["--read-only"]] {
        assert!(!add(silent).contains("without asking"), "{silent:?}");
    }
    let said = add(&[]);
    assert!(
        said.contains("without asking for permission") && said.contains("fleet config set agents.demo.trust"),
        "{said}"
    );
    assert!(!add(&[]).contains("without asking"), "once is enough");
    world.fleet.ok(&["config", "set", "agents.demo.trust", "full"]);
    assert!(add(&[]).contains("trust `full`: "));
}
