//! A script that was written for the Python codefleet sees the same here: it is run against both servers, with the same
//! agents, and what it saw is compared field by field.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs, thread};

use fleet_testkit::fleet::Fleet;
use fleet_testkit::python::Python;
use fleet_testkit::repo::Repo;
use serde_json::{Value, json};

use crate::python::run_script;

const SCRIPT: &str = include_str!("original/script.py");
const AGENT: &str = include_str!("original/agent.sh");
const WORKFLOWS: [(&str, &str); 3] = [
    ("compete-judge", include_str!("../fixtures/workflows/compete-judge.json")),
    ("parallel-review", include_str!("../fixtures/workflows/parallel-review.json")),
    ("write-review-refine", include_str!("../fixtures/workflows/write-review-refine.json")),
];

/// Both servers read these.
const SETTINGS: [(&str, &str); 8] = [
    ("FLEET_DEFAULT_EXECUTOR", "codex"),
    ("FLEET_DEFAULT_MODEL", "gpt-5.5"),
    ("FLEET_GEMINI_DEFAULT_MODEL", "gemini-3.1-pro-preview"),
    ("FLEET_CLAUDE_DEFAULT_MODEL", "claude-sonnet-4-6"),
    ("FLEET_DEFAULT_TIMEOUT", "600"),
    ("FLEET_MAX_CONCURRENT", "50"),
    ("FLEET_STALE_MAX_RESTARTS", "0"),
    ("FLEET_RATE_LIMIT_MAX_RETRIES", "0"),
];

/// Times, ids and paths: each has the same type on both sides, and its own value.
const OWN_VALUES: &[&str] = &[
    "created_at",
    "started_at",
    "ended_at",
    "completed_at",
    "last_heartbeat_at",
    "last_activity_at",
    "elapsed",
    "heartbeat_age",
    "last_output_age",
    "worker_id",
    "workflow_id",
    "commits",
    "repo_path",
    "branch_name",
    "worker_dir",
    "prompt_path",
    "result_json_path",
    "stdout_path",
    "stderr_path",
    "meta_path",
    "db_path",
    "base_dir",
    "codex_path",
    "gemini_path",
    "claude_path",
    "git_path",
];

/// Sentences for people: each side has its own words.
const OWN_WORDS: &[&str] = &[
    "heartbeat_message",
    "error_message",
    "version",
    "claude_auth_note",
    "heartbeat_interval",
    "best_for",
    "weaker_at",
    "benchmarks",
    "routing_rules",
];

/// What differs on purpose: at which steps (all, if empty), which field, and why. `docs/coming-from/codefleet.md` has it, too.
const ON_PURPOSE: &[(&[&str], &str, &str)] = &[
    (&[], "worktree_path", "a worktree goes back to the pool at the end; it can be had again by asking"),
    (&[], "pid", "a process that is gone has no number: it may be another's by now"),
    (
        &["status late", "result late", "cancel", "all", "newest", "some", "no status"],
        "exit_code",
        "what the process said, not -1 or nothing",
    ),
    (&["health"], "codex_version", "the number alone"),
    (&["health"], "gemini_version", "the number alone"),
    (&["health"], "claude_version", "the number alone"),
    (
        &["result line", "stages line"],
        "task_name",
        "the worker of a stage is called by the name that fits a branch",
    ),
    (&["result line", "stages line"], "summary_line", "the same"),
    (&["stages line"], "stdout_tail", "agents are started so that they tell what they do"),
    (&["stages line"], "summary", "what another agent said is quoted as such in a prompt"),
    (&["stages odd", "stages broken"], "stdout_tail", "agents are started so that they tell what they do"),
    (
        &["status broken", "result broken", "stages broken", "all workflows"],
        "status",
        "a stage that will never start is skipped, not pending",
    ),
    (&["status broken", "result broken", "stages broken", "all workflows"], "status_label", "the same"),
    (&["status broken", "result broken", "stages broken", "all workflows"], "progress", "the same"),
    (&["status broken", "result broken", "stages broken", "all workflows"], "summary_line", "the same"),
    (
        &[
            "no executor",
            "no base",
            "wrong vendor",
            "create no stages",
            "create itself",
            "create out of range",
            "create before",
            "create circle",
            "create inner circle",
            "create inherits nothing",
        ],
        "details",
        "other words, and more of them",
    ),
    (&["after cleaning"], "worker_dir", "what was removed has no path and no time"),
    (&["after cleaning"], "prompt_path", "what was removed has no path and no time"),
    (&["after cleaning"], "result_json_path", "what was removed has no path and no time"),
    (&["after cleaning"], "stdout_path", "what was removed has no path and no time"),
    (&["after cleaning"], "stderr_path", "what was removed has no path and no time"),
    (&["after cleaning"], "meta_path", "what was removed has no path and no time"),
    (&["after cleaning"], "last_activity_at", "what was removed has no path and no time"),
    (&["create capital"], "refused", "there is no doubt who is meant"),
    (&["create no such stage"], "error", "a place in a prompt that can never be filled is an error"),
];

/// What was just made may still be waiting for its slot.
const WHEN_MADE: &[&str] = &[
    "status",
    "status_label",
    "started_at",
    "last_activity_at",
    "last_heartbeat_at",
    "worker_dir",
    "prompt_path",
    "result_json_path",
    "stdout_path",
    "stderr_path",
    "meta_path",
    "summary_line",
    "progress",
    "heartbeat_message",
    "model",
];

/// Where a script runs, and what it talks to.
struct World {
    repo: Repo,
    fleet: Fleet,
}

impl World {
    fn new() -> Self {
        let repo = Repo::init();
        let mut fleet = Fleet::new(env!("CARGO_BIN_EXE_fleet")).env("FLEET_AUTOSTART", "true");
        let programs = fleet.user_home().join("bin");
        fs::create_dir(&programs).unwrap();
        for name in ["codex", "gemini", "claude"] {
            fs::write(programs.join(name), AGENT).unwrap();
            fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for (folder, file) in [(".codex", "auth.json"), (".gemini", "oauth_creds.json")] {
            fs::create_dir(fleet.user_home().join(folder)).unwrap();
            fs::write(fleet.user_home().join(folder).join(file), "{}").unwrap();
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
        fleet = fleet.env("PATH", path);
        for (name, value) in SETTINGS {
            fleet = fleet.env(name, value);
        }
        Self { repo, fleet }
    }

    /// What the script saw: `[step, answer]`, in order.
    #[track_caller]
    fn seen(&self, mut python: Command, server: &Command) -> Vec<(String, Value)> {
        let workflows: Value = WORKFLOWS
            .iter()
            .map(|(name, file)| ((*name).to_owned(), serde_json::from_str::<Value>(file).unwrap()))
            .collect();
        let order = json!({"server": start_of(server), "repo": self.repo.path(), "workflows": workflows});
        run_script(python.args(["-c", SCRIPT]), self.fleet.user_home(), &order)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.fleet.run(&["stop", "--agents"]);
    }
}

/// How a client starts a server: command, arguments and environment.
fn start_of(server: &Command) -> Value {
    let text = |text: &OsStr| text.to_str().unwrap().to_owned();
    let args: Vec<String> = server.get_args().map(text).collect();
    let env: Value =
        server.get_envs().filter_map(|(name, value)| Some((text(name), json!(text(value?))))).collect();
    json!({"command": text(server.get_program()), "args": args, "env": env})
}

/// The Python codefleet, with the same surroundings and a folder of its own.
fn original(world: &World, mut python: Command, base_dir: &Path) -> Command {
    python.args(["-c", "from codefleet.server import main; main()"]);
    let ours = world.fleet.command(&["mcp"]);
    python.env_clear().envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    python.env_remove("FLEET_HOME").env("FLEET_BASE_DIR", base_dir);
    python
}

#[test]
fn a_script_for_the_original_sees_the_same() {
    let Some(_) = Python::Original.or_skip() else { return };
    let python = || Python::Original.command().unwrap();
    let (theirs, ours) = thread::scope(|scope| {
        let theirs = scope.spawn(|| {
            let (world, base_dir) = (World::new(), tempfile::tempdir().unwrap());
            world.seen(python(), &original(&world, python(), base_dir.path()))
        });
        let world = World::new();
        let ours = world.seen(python(), &world.fleet.command(&["mcp"]));
        (theirs.join().unwrap(), ours)
    });
    let mut found = Differences::default();
    assert_eq!(theirs.len(), ours.len());
    for ((step, theirs), (our_step, ours)) in theirs.iter().zip(&ours) {
        assert_eq!(step, our_step);
        found.compare(At { step, path: step, field: "" }, theirs, ours);
    }
    assert!(found.unexpected.is_empty(), "{}", found.unexpected.join("\n"));
    let gone: Vec<_> = (0..ON_PURPOSE.len()).filter(|at| !found.met.contains(at)).collect();
    assert!(
        gone.is_empty(),
        "these are the same: {:?}",
        gone.iter().map(|at| ON_PURPOSE[*at]).collect::<Vec<_>>()
    );
}

#[derive(Default)]
struct Differences {
    unexpected: Vec<String>,
    /// Those of [`ON_PURPOSE`] that were met.
    met: Vec<usize>,
}

/// Where something is.
#[derive(Clone, Copy)]
struct At<'a> {
    step: &'a str,
    path: &'a str,
    field: &'a str,
}

impl Differences {
    /// Everything of theirs must be in ours; ours may have more.
    fn compare(&mut self, at: At<'_>, theirs: &Value, ours: &Value) {
        match (theirs, ours) {
            // What their framework refused is text there, and an error like any other here.
            (Value::Object(fields), Value::Object(own)) if fields.contains_key("refused") => {
                if !own.contains_key("error") {
                    self.note(At { field: "refused", ..at }, theirs, ours);
                }
            }
            (Value::Object(fields), Value::Object(own))
                if own.contains_key("error") && !fields.contains_key("error") =>
            {
                self.note(At { field: "error", ..at }, theirs, ours);
            }
            (Value::Object(theirs), Value::Object(ours)) => {
                for (name, value) in theirs {
                    let at = At { path: &format!("{}.{name}", at.path), field: name, ..at };
                    match ours.get(name) {
                        Some(own) => self.compare(at, value, own),
                        None => self.note(at, value, &json!("MISSING")),
                    }
                }
            }
            _ if OWN_VALUES.contains(&at.field) || OWN_WORDS.contains(&at.field) => {
                if kind(theirs) != kind(ours) {
                    self.note(at, theirs, ours);
                }
            }
            (Value::Array(theirs), Value::Array(ours)) if at.path.starts_with("health.supported_models.") => {
                assert!(theirs.iter().all(|model| ours.contains(model)), "{}: {ours:?}", at.path);
            }
            (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
                for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                    self.compare(At { path: &format!("{}[{index}]", at.path), ..at }, theirs, ours);
                }
            }
            (Value::String(text), Value::String(own)) if plain(at.field, text) == plain(at.field, own) => {}
            _ if theirs == ours => {}
            _ => self.note(at, theirs, ours),
        }
    }

    fn note(&mut self, at: At<'_>, theirs: &Value, ours: &Value) {
        let At { step, path, field } = at;
        if is_just_made(step) && WHEN_MADE.contains(&field) {
            return;
        }
        let is_meant = |(steps, name, _): &(&[&str], &str, &str)| {
            *name == field && (steps.is_empty() || steps.iter().any(|known| step.starts_with(known)))
        };
        match ON_PURPOSE.iter().position(is_meant) {
            Some(at) => self.met.push(at),
            None => self.unexpected.push(format!("{path}: {theirs} | {ours}")),
        }
    }
}

fn is_just_made(step: &str) -> bool {
    step.starts_with("create ") || step == "unfinished"
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// A text without ids and times. Theirs names executors by the Python class.
fn plain(field: &str, text: &str) -> String {
    let text = text.replace("ExecutorType.", "").replace("CODEX/", "codex/").replace("GEMINI/", "gemini/");
    let text = text.replace("CLAUDE/", "claude/");
    let without_time = match text.rfind(['—', '(']) {
        Some(end) if field == "summary_line" => &text[..end],
        _ => &text,
    };
    let is_id = |word: &&str| {
        let theirs = word.starts_with("w_") || word.starts_with("wf_");
        theirs || (word.len() == 15 && word.starts_with(['t', 'w']) && word.contains('0'))
    };
    without_time.split(' ').map(|word| if is_id(&word) { "ID" } else { word }).collect::<Vec<_>>().join(" ")
}
