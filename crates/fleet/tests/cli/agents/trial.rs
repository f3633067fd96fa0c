//! `fleet agents test`: a tiny task through a queue of its own, with nothing left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use fleet_testkit::wait_until;
use serde_json::{Value, json};

use super::super::support::{World, error};
use super::{scripted, world};

const SOON: Duration = Duration::from_mins(1);

/// A world whose temporary folder can be looked at.
fn stage() -> (World, PathBuf) {
    let mut world = world();
    let temporary = world.repo.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    world.fleet = world.fleet.env("TMPDIR", &temporary);
    (world, temporary)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

fn verdicts(response: &Value) -> Vec<(String, String)> {
    let text = |step: &Value, name: &str| step[name].as_str().unwrap().to_owned();
    let steps = response["steps"].as_array().unwrap();
    steps.iter().map(|step| (text(step, "name"), text(step, "verdict"))).collect()
}

#[test]
fn an_agent_that_works_is_good_at_every_step() {
    let (world, temporary) = stage();
    let response = world.fleet.json(&["agents", "test", "demo"]);
    assert_eq!((&response["ok"], &response["reason"]), (&json!(true), &Value::Null));
    let names = [
        "installed",
        "login",
        "starts",
        "session",
        "streams",
        "edited",
        "committed",
        "usage",
        "cost",
        "ended",
    ];
    let good: Vec<_> = names.iter().map(|name| ((*name).to_owned(), "good".to_owned())).collect();
    assert_eq!(verdicts(&response), good, "{response}");
    assert!(is_empty(&temporary), "nothing is left");
    assert!(!world.fleet.home().join("fleet.db").exists(), "the user's queue was not touched");
}

#[test]
fn an_agent_that_fails_is_told_step_by_step() {
    let (world, temporary) = stage();
    let line = r#"{"type":"error","reason":"auth","text":"who are you?"}"#;
    scripted(&world, &format!("[ \"$1\" = --version ] && echo 1.0 && exit 0\necho '{line}'; exit 1"));
    let output = world.fleet.fail(8, &["agents", "test", "demo", "--json"]);
    let response: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&response["ok"], &response["reason"]), (&json!(false), &json!("auth")));
    let bad: Vec<_> = verdicts(&response).into_iter().filter(|(_, verdict)| verdict == "bad").collect();
    let bad: Vec<&str> = bad.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(bad, ["login", "edited", "committed", "ended"], "{response}");
    let (code, message, hints) = error(&output);
    assert_eq!(code, "run-failed");
    assert!(
        message.ends_with("login, edited, committed, ended (auth)") && hints.contains("log in"),
        "{message} {hints}"
    );
    assert!(is_empty(&temporary));
}

#[test]
fn an_agent_that_is_not_there_or_may_not_use_a_model_is_not_tried() {
    let (world, temporary) = stage();
    let (code, message, hints) = error(&world.fleet.fail(8, &["agents", "test", "claude", "--json"]));
    assert_eq!((code.as_str(), message.as_str()), ("run-failed", "claude is not installed"));
    assert!(hints.contains("install it"), "{hints}");
    world.fleet.ok(&["config", "set", "agents.demo.models", "a"]);
    let refused = world.fleet.fail(2, &["agents", "test", "demo", "--model", "b", "--json"]);
    assert_eq!(error(&refused).0, "model-refused");
    assert_eq!(error(&world.fleet.fail(3, &["agents", "test", "nobody", "--json"])).0, "agent-missing");
    assert!(is_empty(&temporary));
}

#[test]
fn whoever_leaves_leaves_nothing_behind() {
    let (world, temporary) = stage();
    let (_, log) = scripted(
        &world,
        "[ \"$1\" = --version ] && echo 1.0 && exit 0\necho $$ >> \"$0.pid\"\nexec /bin/sleep 600",
    );
    let mut command = world.fleet.command(&["agents", "test", "demo"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = log.with_file_name("program.pid");
    wait_until(SOON, "the agent at work", || pid.exists());
    let pid = fs::read_to_string(pid).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty(&temporary));
    let lives = Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap();
    assert!(!lives.success(), "the agent has ended");
}

#[test]
fn an_agent_that_does_not_end_is_stopped_in_time() {
    let (world, temporary) = stage();
    scripted(&world, "[ \"$1\" = --version ] && echo 1.0 && exit 0\nexec /bin/sleep 600");
    let response: Value = serde_json::from_str(
        &world.fleet.fail(8, &["agents", "test", "demo", "--time", "1s", "--json"]).stdout,
    )
    .unwrap();
    assert_eq!(response["reason"], "timed_out", "{response}");
    assert!(is_empty(&temporary));
}

#[test]
fn an_agent_that_only_the_configuration_describes_works_like_any_other() {
    let (world, temporary) = stage();
    let script = "[ \"$1\" = --version ] && echo 2.0 && exit 0\necho \"session: s-1\"\n\
        echo 'Hello from codefleet' > hello.txt\ngit add hello.txt\n\
        git -c user.name=a -c user.email=a@b commit --quiet --message hello\necho \"used 10 in 5 out by $3\"";
    let (program, _) = scripted(&world, script);
    world.fleet.ok(&["config", "unset", "agents.demo.program"]);
    let file = world.fleet.home().join("config.toml");
    let config = format!(
        "[agents.mine]\nprogram = '{}'\nargs = ['work', '--model', '{{model}}']\nmodel = 'big'\nversion_args = ['--version']\n\
         session_pattern = 'session: (.*)'\nusage_pattern = 'used (?<input>\\d+) in (?<output>\\d+) out by big'\n",
        program.display()
    );
    fs::write(file, config).unwrap();
    let agents = world.fleet.json(&["agents"]);
    let mine = agents["agents"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&mine["name"], &mine["version"], &mine["account"]),
        (&json!("mine"), &json!("2.0"), &json!("mine:default"))
    );
    fs::write(world.fleet.home().join("prices.toml"), "[models.big]\ninput = 1000\noutput = 1000\n").unwrap();
    let response = world.fleet.json(&["agents", "test", "mine"]);
    assert_eq!((&response["ok"], &response["model"]), (&json!(true), &json!("big")), "{response}");
    let detail = |name: &str| {
        let steps = response["steps"].as_array().unwrap();
        steps.iter().find(|step| step["name"] == name).unwrap()["detail"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (detail("session").as_str(), detail("usage").as_str()),
        ("s-1", "10 tokens in, 5 out"),
        "{response}"
    );
    assert!(is_empty(&temporary));
}
