//! Many messages, long ones, and ones to several agents: each arrives once, whole and in order.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use fleet_testkit::wait_until;
use serde_json::Value;

use super::super::support::{error, shell};
use super::{SOON, Yard};

/// An agent with structured input that keeps what it hears in a file, and is done after `number` messages.
fn listener(yard: &Yard, number: usize) {
    let program = yard.sign("listener");
    let script = format!(
        r#"#!/bin/bash
echo '{{"type":"system","subtype":"init","session_id":"s","model":"m"}}'
for ((heard = 0; heard <= {number}; heard++)); do
  IFS= read -r line || exit 1
  printf '%s\n' "$line" >> heard.jsonl
  echo '{{"type":"user","isReplay":true,"session_id":"s","message":{{"role":"user","content":[]}}}}'
  echo '{{"type":"assistant","session_id":"s","message":{{"content":[{{"type":"text","text":"ok"}}]}}}}'
done
echo '{{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}}'
cat > /dev/null
"#
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("[agents.listener]\nprogram = '{}'\noutput = 'claude'\n", program.display());
    fs::write(yard.fleet.home().join("config.toml"), config).unwrap();
}

impl Yard {
    fn add_listener(&self, branch: &str) -> String {
        let args = ["task", "add", "-q", branch, "--agent", "listener", "--branch", branch];
        self.fleet.ok(&args).trim_end().to_owned()
    }

    fn wait_for_session(&self, task: &str) {
        wait_until(SOON, "an agent that listens", || {
            self.task(task)["runs"].as_array().and_then(|runs| runs.last()?["session"].as_str()).is_some()
        });
    }

    /// What the agent of a branch heard after its task.
    fn heard(&self, branch: &str) -> Vec<String> {
        let text = |line: &str| -> String {
            let line: Value = serde_json::from_str(line).unwrap();
            line["message"]["content"][0]["text"].as_str().unwrap().to_owned()
        };
        self.file(branch, "heard.jsonl").lines().skip(1).map(text).collect()
    }
}

const SENDERS: usize = 10;
const AGENTS: usize = 5;
const PROMPTS: usize = 20;

/// The message of a sender: some are long, all have characters that a careless channel would change.
fn said(sender: usize, number: usize) -> String {
    let filling = "ä\"\\\n\t{}$1 ".repeat(if number.is_multiple_of(7) { 5_000 } else { 3 });
    format!("sender {sender} number {number}\n{filling}end of {sender}.{number}")
}

#[test]
fn heavy_ten_senders_never_mix_and_each_message_arrives_once_in_order() {
    let mut yard = Yard::new();
    listener(&yard, SENDERS * PROMPTS / AGENTS);
    let branches: Vec<String> = (0..AGENTS).map(|agent| format!("agent-{agent}")).collect();
    let tasks: Vec<String> = branches.iter().map(|branch| yard.add_listener(branch)).collect();
    let mut runner = yard.fleet.command(&["run", "--slots", "5"]);
    yard.runner =
        Some(runner.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap());
    for task in &tasks {
        yard.wait_for_session(task);
    }
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (yard, branches) = (&yard, &branches);
            scope.spawn(move || {
                let fleet = yard.fleet.env("USER", format!("sender-{sender}"));
                for number in 0..PROMPTS {
                    let to = &branches[(sender + number) % AGENTS];
                    fleet.stdin(said(sender, number)).ok(&["prompt", to, "-"]);
                }
            });
        }
    });
    for task in &tasks {
        wait_until(SOON, "the end of an agent", || yard.task(task)["state"] == "done");
    }
    for (agent, branch) in branches.iter().enumerate() {
        let heard = yard.heard(branch);
        assert_eq!(heard.len(), SENDERS * PROMPTS / AGENTS, "{branch}");
        for sender in 0..SENDERS {
            let expected: Vec<String> = (0..PROMPTS)
                .filter(|number| (sender + number) % AGENTS == agent)
                .map(|number| said(sender, number))
                .collect();
            let begin = format!("sender {sender} ");
            let of_sender: Vec<&String> = heard.iter().filter(|text| text.starts_with(&begin)).collect();
            assert!(of_sender.into_iter().eq(expected.iter()), "{sender} to {branch}");
        }
    }
    let rest = yard.fleet.json(&["prompt", "--status"]);
    assert_eq!(rest["messages"].as_array().unwrap().len(), 0, "all are seen: {rest}");
}

#[test]
fn more_than_a_batch_waits_for_a_task_and_arrives_in_order() {
    let mut yard = Yard::new();
    listener(&yard, 150);
    let task = yard.add_listener("login");
    yard.start_runner();
    yard.wait_for_session(&task);
    let line = "for number in {1..150}; do $FLEET prompt login \"number $number\" || exit; done";
    let sent = shell(&yard.fleet, line);
    assert_eq!(sent.code, 0, "{sent:?}");
    wait_until(SOON, "the end", || yard.task(&task)["state"] == "done");
    let expected: Vec<String> = (1..=150).map(|number| format!("number {number}")).collect();
    assert_eq!(yard.heard("login"), expected);
}

/// The path that stands for a long message.
fn path_in(text: &str) -> &str {
    text.split("read all of it in ").nth(1).unwrap_or_else(|| panic!("{text}")).lines().next().unwrap()
}

#[test]
fn a_long_message_arrives_whole_in_a_file() {
    let mut yard = Yard::new();
    let long = format!("begin\n{}\u{7}\u{1b}[0m ende ü", "0123456789abcdé\n".repeat(300_000));
    assert!(long.len() > 5_000_000);
    let waiting = yard.add("waiting", "write a x");
    yard.fleet.stdin(long.clone()).ok(&["prompt", "waiting", "-"]);
    yard.fleet.ok(&["prompt", "waiting", "And a short one"]);
    yard.finish_all();
    assert_eq!(yard.task(&waiting)["state"], "done");
    let prompt =
        fs::read_to_string(yard.fleet.home().join("runs").join(yard.run_of(&waiting)).join("prompt.md"))
            .unwrap();
    assert!(prompt.len() < 20_000 && prompt.contains("And a short one"), "{}", prompt.len());
    assert!(fs::read_to_string(path_in(&prompt)).unwrap() == long, "all of it");

    listener(&yard, 2);
    let live = yard.add_listener("live");
    yard.start_runner();
    yard.wait_for_session(&live);
    yard.fleet.stdin(long.clone()).ok(&["prompt", "live", "-"]);
    yard.fleet.ok(&["prompt", "live", "done?"]);
    wait_until(SOON, "the end", || yard.task(&live)["state"] == "done");
    let heard = yard.heard("live");
    assert_eq!((heard.len(), heard[1].as_str()), (2, "done?"));
    assert!(fs::read_to_string(path_in(&heard[0])).unwrap() == long, "all of it");
}

#[test]
fn what_is_not_text_or_too_much_is_refused() {
    let yard = Yard::new();
    yard.add("login", "write a x");
    let refused = |bytes: &[u8]| {
        let output = yard.fleet.stdin(bytes).fail(2, &["prompt", "login", "-", "--json"]);
        error(&output).1
    };
    assert!(refused(b"\xff\xfe").contains("not UTF-8 text"));
    assert!(refused(b"a\0b").contains("NUL"));
    assert!(refused(b" \n").contains("it is empty"));
    assert!(refused(&vec![b'x'; (16 << 20) + 1]).contains("at most 16777216"));
}

#[test]
fn a_pattern_means_every_agent_that_is_not_over_once() {
    let mut yard = Yard::new();
    yard.add("old-a", "write a x");
    yard.finish_all();
    yard.add_staying("new-a", "say one");
    yard.start_runner();
    yard.at_work(&["new-a"]);
    let hold = ["task", "add", "-q", "later", "--agent", "demo", "--branch", "new-b", "--hold"];
    yard.fleet.ok(&hold);
    let sent = yard.fleet.json(&["prompt", "*", "Mind the tests"]);
    assert_eq!(
        (sent["prompts"].as_array().unwrap().len(), sent["failed"].as_array().unwrap().len()),
        (2, 0),
        "{sent}"
    );
    let said = yard.fleet.ok(&["prompt", "new-*", "And the docs"]);
    assert!(said.lines().count() == 2 && said.contains("new-a") && said.contains("new-b"), "{said}");
    let (code, message, hints) = error(&yard.fleet.fail(3, &["prompt", "none-*", "x", "--json"]));
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("nothing-matched", "no running or queued task matches \"none-*\"")
    );
    assert!(hints.contains("quote patterns"), "{hints}");
    let (_, message, hints) = error(&yard.fleet.fail(3, &["prompt", "old-*", "x", "--json"]));
    assert!(message.contains("1 task is finished") && hints.contains("--all"), "{message}: {hints}");
    yard.fleet.ok(&["kill", "new-a", "--yes"]);
    let all = yard.fleet.json(&["prompt", "old-*", "--all", "Once more"]);
    assert_eq!(all["prompts"][0]["reception"], "reopened", "{all}");
}

#[test]
fn messages_are_listed_with_their_states_and_taken_back() {
    let yard = Yard::new();
    let task = yard.add("login", "write a x");
    yard.add("docs", "write a x");
    assert_eq!(yard.fleet.ok(&["prompt", "--status"]), "no message waits: agents have seen all of them\n");
    let ada = yard.fleet.env("USER", "ada");
    ada.ok(&["prompt", "login", "Mind the tests\nand more"]);
    ada.ok(&["prompt", "login", "Never mind"]);
    ada.ok(&["prompt", "docs", "Spell it out"]);
    let shown = yard.fleet.ok(&["prompt", "--status"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("MESSAGE") && lines.len() == 4, "{shown}");
    for part in ["login", "ada", "waiting", "Mind the tests"] {
        assert!(lines[1].contains(part), "{part}: {shown}");
    }
    let only = yard.fleet.json(&["prompt", "--status", "log*"]);
    assert_eq!(only["messages"].as_array().unwrap().len(), 2, "{only}");
    assert_eq!(
        (&only["messages"][1]["number"], &only["messages"][1]["branch"]),
        (&2.into(), &"login".into())
    );
    assert!(yard.fleet.ok(&["prompt", "--cancel", "login.2"]).contains(&format!("{task}.2  cancelled")));
    let again = yard.fleet.fail(4, &["prompt", "--cancel", "login.2"]);
    assert!(again.stderr.contains("is expired"), "{again:?}");
    assert!(yard.fleet.fail(2, &["prompt", "--cancel", "login.9"]).stderr.contains("no message 9"));
    assert!(yard.fleet.fail(2, &["prompt", "--cancel", "login"]).stderr.contains("is not ID.N"));
    yard.finish_all();
    let told = fs::read_to_string(yard.fleet.home().join("runs").join(yard.run_of(&task)).join("prompt.md"))
        .unwrap();
    assert!(told.contains("Mind the tests") && !told.contains("Never mind"), "{told}");
    let states: Vec<Value> = yard.fleet.json(&["prompt", "--status", "login"])["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["state"].clone())
        .collect();
    assert_eq!(states, ["seen", "expired"]);
    let late = yard.fleet.fail(4, &["prompt", "--cancel", "login.1"]);
    assert!(late.stderr.contains("is seen"), "{late:?}");
    assert!(yard.fleet.ok(&["events", "-n", "50"]).contains("task.prompt_cancelled"));
}
