//! Agents in terminals: how soon people see them, how soon keys come back, what an idle one costs.

use std::fs;
use std::process::Command;

use fleet_testkit::person::Person;

use super::rig::{RunRig, wait};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::{median, millis};

const ROUNDS: usize = 15;
const KEYS: usize = 200;
const FILES: usize = 100;
/// What the agent that does nothing shows first.
const READY: &str = "ready";
/// What may come on top of a bare terminal for a key, in milliseconds.
const ALLOWED: f64 = 2.0;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    let mut rig = RunRig::new(setting, FILES);
    define_agent(&rig);
    rig.start("4");
    let (mut create, mut floor) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        create.push(create_and_attach(&rig, round));
        floor.push(bare(&rig, round));
    }
    let (create, floor) = (median(create), median(floor));
    let (five, twenty) = (fanout(&rig, 5), fanout(&rig, 20));
    let (through, bare) = keys(&rig);
    let memory = idle_memory(&rig);
    let fixed = "(fixed bound)";
    vec![
        ReportRow::new(
            "from `fleet create --attach` to the agent's screen",
            (create, "ms"),
            (floor, "ms, `git worktree add` + the program in a bare terminal"),
            Goal::AtMost(1.2),
        ),
        ReportRow::new(
            "`fleet fanout 5 --interactive`, all agents up",
            (five, "ms"),
            (250.0, &format!("ms {fixed}")),
            Goal::AtMost(1.0),
        ),
        ReportRow::new(
            "`fleet fanout 20 --interactive`, all agents up",
            (twenty, "ms"),
            (500.0, &format!("ms {fixed}")),
            Goal::AtMost(1.0),
        ),
        ReportRow::new(
            "a key and its echo through `fleet attach`",
            (through, "ms"),
            (bare + ALLOWED, "ms, in a bare terminal + 2 ms"),
            Goal::AtMost(1.0),
        ),
        ReportRow::new(
            "memory of the keeper of an idle terminal (PSS)",
            (memory, "MiB"),
            (8.0, &format!("MiB {fixed}")),
            Goal::AtMost(1.0),
        ),
    ]
}

/// What the program does, in a terminal of ours or in a bare one.
fn program(rig: &RunRig) -> String {
    format!("printf {READY}; : > '{}'/\"$FLEET_BRANCH\"; exec cat", rig.mark("up").display())
}

fn define_agent(rig: &RunRig) {
    fs::create_dir_all(rig.mark("up")).expect("a folder");
    fs::create_dir_all(rig.home()).expect("a folder");
    let line = program(rig).replace('\\', "\\\\").replace('"', "\\\"");
    let config =
        format!("[agents.idle]\nprogram = \"sh\"\nargs = []\nterminal_args = [\"-c\", \"{line}\"]\n");
    fs::write(rig.home().join("config.toml"), config).expect("a configuration");
}

fn create_and_attach(rig: &RunRig, round: usize) -> f64 {
    let branch = format!("create-{round}");
    let mut command = rig.command(&["create", &branch, "--attach", "--agent", "idle"]);
    command.stdin(std::process::Stdio::inherit());
    let mut person = None;
    let took = millis(|| {
        let started = Person::run(command, 120, 40);
        started.sees(READY);
        person = Some(started);
    });
    drop(person);
    rig.fleet(&["kill", &branch, "--yes"]);
    rig.quiet();
    took
}

fn bare(rig: &RunRig, round: usize) -> f64 {
    let path = rig.mark(&format!("bare-{round}"));
    let (name, branch) = (path.to_str().expect("a plain path"), format!("bare-{round}"));
    let took = millis(|| {
        rig.git(&["worktree", "add", "-q", "-b", &branch, name]);
        bare_terminal(rig, &branch).sees(READY);
    });
    rig.git(&["worktree", "remove", "--force", name]);
    took
}

fn bare_terminal(rig: &RunRig, branch: &str) -> Person {
    let mut command = Command::new("sh");
    command.args(["-c", &program(rig)]).env("FLEET_BRANCH", branch);
    Person::run(command, 120, 40)
}

/// Until every agent of a batch is up.
fn fanout(rig: &RunRig, agents: usize) -> f64 {
    let times = (0..5).map(|round| {
        let prefix = format!("f{agents}-{round}");
        let up = rig.mark("up");
        let count = || {
            let names = fs::read_dir(&up).expect("a folder").flatten();
            names
                .filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{prefix}-")))
                .count()
        };
        let number = agents.to_string();
        let took = millis(|| {
            rig.fleet(&["fanout", &number, &prefix, "-p", "x", "--interactive", "--agent", "idle"]);
            wait("all agents are up", || count() == agents);
        });
        rig.fleet(&["kill", &format!("{prefix}-*"), "--yes"]);
        rig.quiet();
        took
    });
    median(times.collect())
}

/// The time of a key through `fleet attach`, and in a bare terminal.
fn keys(rig: &RunRig) -> (f64, f64) {
    let person = Person::run(
        {
            let mut command = rig.command(&["create", "keys", "--attach", "--agent", "idle"]);
            command.stdin(std::process::Stdio::inherit());
            command
        },
        120,
        40,
    );
    person.sees(READY);
    let bare = bare_terminal(rig, "bare-keys");
    bare.sees(READY);
    // The line at the bottom goes away first.
    wait("the banner is gone", || !person.screen().contains("detaches"));
    let (mut through, mut alone) = (Vec::new(), Vec::new());
    for number in 0..KEYS {
        let key = [b"abcdefgh"[number % 8]];
        through.push(person.reacts_to(key).as_secs_f64() * 1_000.0);
        alone.push(bare.reacts_to(key).as_secs_f64() * 1_000.0);
        // Faster than anybody types.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    (median(through), median(alone))
}

/// In MiB, of the keeper of the terminal that the keys went to.
fn idle_memory(rig: &RunRig) -> f64 {
    let output =
        rig.command(&["list", "--json"]).stdout(std::process::Stdio::piped()).output().expect("it starts");
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let keeper = listed["runs"][0]["keeper"].as_i64().expect("a keeper");
    let text = fs::read_to_string(format!("/proc/{keeper}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1_024.0
}
