//! `--json` answers against `docs/json.md`: every documented field is there, and no other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::support::{World, json_lines};

const PAGE: &str = include_str!("../../../../docs/json.md");

/// The fields of the n-th table of a section, with their types.
fn table_of(title: &str, number: usize) -> BTreeMap<String, String> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(title)).unwrap();
    let table = section.split("| field | type | meaning |").nth(number + 1).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut fields = BTreeMap::new();
    for row in rows {
        let mut cells = row.split(" | ");
        let (names, kind) = (cells.next().unwrap(), cells.next().unwrap());
        for name in names.split(", ") {
            fields.insert(name.trim_matches('`').to_owned(), kind.to_owned());
        }
    }
    assert!(fields.len() > 5, "the table was found: {fields:?}");
    fields
}

/// Fields of the table `| field | type | meaning |` of a task, with their types.
fn task_fields() -> BTreeMap<String, String> {
    fields_of("A task")
}

fn fields_of(title: &str) -> BTreeMap<String, String> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(title)).unwrap();
    // Up to the second table, which has no types.
    let section = section.split("\n`show` has").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut fields = BTreeMap::new();
    for row in rows {
        let mut cells = row.split(" | ");
        let (names, kind) = (cells.next().unwrap(), cells.next().unwrap());
        for name in names.split(", ") {
            fields.insert(name.trim_matches('`').to_owned(), kind.to_owned());
        }
    }
    assert!(fields.len() > 20, "the table was found: {fields:?}");
    fields
}

fn is_time(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && &text[10..11] == "T" && &text[19..20] == "."
}

fn fits(value: &Value, kind: &str) -> bool {
    match kind.strip_suffix(" or null") {
        Some(kind) => value.is_null() || fits(value, kind),
        None => match kind {
            "string" => value.is_string(),
            "number" => value.is_i64(),
            "real" => value.is_f64(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "list" => value.is_array(),
            "time" => value.as_str().is_some_and(is_time),
            "list of strings" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            other => panic!("what is a {other}?"),
        },
    }
}

/// Exactly these fields, each of its type.
#[track_caller]
fn exactly(value: &Value, fields: &BTreeMap<String, String>) {
    let object = value.as_object().unwrap_or_else(|| panic!("an object: {value}"));
    let (is, should): (BTreeSet<_>, BTreeSet<_>) = (object.keys().collect(), fields.keys().collect());
    assert_eq!(is, should, "{value}");
    for (name, kind) in fields {
        assert!(fits(&object[name], kind), "{name} is a {kind}: {}", object[name]);
    }
}

/// Exactly these fields, written as `name: type; …`, each of which the page mentions.
#[track_caller]
fn shape(value: &Value, fields: &str) {
    let pairs = fields.split("; ").map(|field| field.split_once(": ").unwrap());
    let fields: BTreeMap<String, String> =
        pairs.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
    for name in fields.keys() {
        let written = [format!("`{name}`"), format!("{name},"), format!("{name}}}"), format!("\"{name}\":")];
        assert!(written.iter().any(|text| PAGE.contains(text)), "docs/json.md says nothing of {name}");
    }
    exactly(value, &fields);
}

/// A task, with further fields in some answers.
#[track_caller]
fn is_task(value: &Value, described: bool, more: &str) {
    let mut fields = task_fields();
    if !described {
        fields.remove("description");
    }
    for (name, kind) in more.split("; ").filter_map(|field| field.split_once(": ")) {
        fields.insert(name.to_owned(), kind.to_owned());
    }
    exactly(value, &fields);
    shape(&value["retry"], "retries: number; backoff_seconds: number");
    if !value["obstacle"].is_null() {
        shape(&value["obstacle"], "chain: list of strings; state: string; needs_a_person: boolean");
    }
}

#[track_caller]
fn are_tasks(value: &Value, described: bool) {
    for task in value.as_array().expect("a list") {
        is_task(task, described, "");
    }
}

fn answers_of_task_commands(world: &World) {
    let json = |arguments: &[&str]| world.fleet.json(arguments);
    let first =
        json(&["task", "add", "One", "--limit", "tokens=200k", "--limit", "time=1h", "--limit", "usd=1"]);
    is_task(&first, true, "");
    shape(&first["limits"], "seconds: number; tokens: number; micro_usd: number");
    let id = first["id"].as_str().unwrap();
    let full = [
        "task",
        "add",
        "Two",
        "--after",
        id,
        "-l",
        "b,a",
        "--scope",
        "src",
        "--complexity",
        "small",
        "--agent",
        "codex",
        "--model",
        "m",
        "--base",
        "main",
        "--branch",
        "b",
        "--not-before",
        "2h",
        "--meta",
        "k=v",
    ];
    let second = json(&full);
    is_task(&second, true, "");
    let other = second["id"].as_str().unwrap();
    for command in ["list", "ready"] {
        let list = json(&["task", command]);
        shape(&list, "tasks: list; more: boolean; projects: object");
        are_tasks(&list["tasks"], false);
    }
    let shown = json(&["task", "show", other]);
    let more = "project_name: string; workflow_name: string or null; stage: string or null; after: list; \
        before: list; runs: list; prompts: list; events: list";
    is_task(&shown, true, more);
    shape(&shown["after"][0], "id: string; state: string");
    is_event(&shown["events"][0]);
    is_task(&json(&["task", "edit", id, "-p", "1"]), true, "changed: list of strings");
    for arguments in [
        &["task", "hold", id, "-m", "why"][..],
        &["task", "release", id],
        &["task", "cancel", id],
        &["task", "retry", id],
        &["task", "dep", "remove", other, id],
        &["task", "dep", "add", other, id],
    ] {
        let moved = json(arguments);
        shape(&moved, "tasks: list");
        are_tasks(&moved["tasks"], false);
    }
    let tree = json(&["task", "dep", "tree", other]);
    shape(&tree, "root: string; nodes: list");
    shape(&tree["nodes"][0], "id: string; state: string; title: string; after: list of strings");
    let line = "{\"title\":\"Three\"}";
    shape(&world.fleet.stdin(line).json(&["task", "import", "-"]), "ids: list of strings; dry_run: boolean");
    let gone = json(&["task", "delete", "--yes", other]);
    shape(&gone, "deleted: list");
    are_tasks(&gone["deleted"], true);
}

fn answers_about_tasks_as_a_whole(world: &World) {
    let json = |arguments: &[&str]| world.fleet.json(arguments);
    let first = world.add("Write the parser");
    world.fleet.ok(&["task", "add", "Document the parser", "--after", &first, "-d", "in docs/parser.md"]);
    world.fleet.ok(&["task", "add", "Try the parser", "-d", &format!("see {first} and docs/parser.md")]);
    let found = json(&["task", "search", "parser", "-n", "1"]);
    shape(&found, "tasks: list; next_cursor: string or null; looked_at: number; more: boolean");
    is_task(&found["tasks"][0], false, "score: real or null; matched: list of strings");
    let alike = json(&["task", "similar", "Describe the parser docs/parser.md", "-t", "0.1"]);
    shape(&alike, "similar: list; looked_at: number; more: boolean");
    let more = "score: real; shared_words: list of strings; shared_paths: list of strings";
    is_task(&alike["similar"][0], false, more);
    let order = json(&["task", "order"]);
    shape(
        &order,
        "order: list; critical_path: list of strings; critical_size: number; by_status: object; \
         stuck: list of strings; bottlenecks: list of strings; suggestions: list; more: boolean",
    );
    shape(
        &order["order"][0],
        "id: string; title: string; status: string; priority: number; after: list of strings; level: number; \
         unblocks: number; critical: boolean; obstacle: object or null",
    );
    shape(&order["suggestions"][0], "task: string; on: string; why: string");
}

fn answers_about_work(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "false");
    let script = |text: &str| format!("```demo\nwrite a.txt {text}\n```");
    for name in ["one", "two"] {
        let own = ["task", "add", name, "--agent", "demo", "--branch", name, "-d", &script(name)];
        fleet.ok(&own);
    }
    fleet.ok(&["run", "--until-idle"]);
    let review = fleet.json(&["review"]);
    shape(&review, "reviews: list; more: boolean");
    shape(
        &review["reviews"][0],
        "task: string; title: string; state: string; verdict: string; run: string; attempt: number; agent: string; \
         model: string or null; branch: string or null; summary: string; files: list of strings; file_count: number; \
         commits: list of strings; commit_count: number; tests: list; remarks: list of strings; \
         next_steps: list of strings; landed: string or null; conflicts: list of strings; tokens: number; \
         micro_usd: number; seconds: number; ended_at: time or null; next: list of strings",
    );
    let found = fleet.json(&["conflicts"]);
    shape(
        &found,
        "conflicts: list; files: list; looked_at: number; unchecked: number; unseen: list; more: boolean",
    );
    shape(
        &found["conflicts"][0],
        "kind: string; tasks: list; with: string or null; files: list of strings; file_count: number; \
         scopes: list; advice: string",
    );
    let side = "task: string; title: string; status: string; branch: string or null";
    shape(&found["conflicts"][0]["tasks"][0], side);
    shape(&found["files"][0], "path: string; tasks: list of strings");
}

#[track_caller]
fn is_event(event: &Value) {
    let kind = event["kind"].as_str().unwrap();
    shape(
        event,
        "seq: number; at: time; kind: string; project: string or null; task: string or null; run: string or null; data: object",
    );
    let section = PAGE.split("\n## ").find(|section| section.starts_with("Events")).unwrap();
    let row = section.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{kind}`")));
    let row = row.unwrap_or_else(|| panic!("docs/json.md has no event {kind}"));
    let documented: BTreeSet<&str> =
        row.rsplit(" | ").next().unwrap().split('`').skip(1).step_by(2).collect();
    let fields: BTreeSet<&str> = event["data"].as_object().unwrap().keys().map(String::as_str).collect();
    assert!(
        fields == documented || (documented == BTreeSet::from(["{}"]) && fields.is_empty()),
        "{event}: {row}"
    );
}

/// A run, with further fields in some answers.
#[track_caller]
fn is_run(value: &Value, more: &str) {
    let mut fields = fields_of("A run");
    for (name, kind) in more.split("; ").filter_map(|field| field.split_once(": ")) {
        fields.insert(name.to_owned(), kind.to_owned());
        assert!(PAGE.contains(&format!("`{name}`")), "docs/json.md says nothing of {name}");
    }
    exactly(value, &fields);
}

const SURROUNDED: &str = "title: string or null; task_state: string or null; batch: string or null; \
    project_name: string; load: object or null";

fn answers_of_run_commands(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "false");
    let json = |arguments: &[&str]| fleet.json(arguments);
    let script = "```demo\nthink a\nwrite a.txt x\nusage 1 2 0.5\nask why\nrate-limit 1s\nraw a\nerror auth b\nlie b\nsay c\n```";
    let task =
        json(&["task", "add", "Seen", "--agent", "demo", "--branch", "seen", "--retries", "0", "-d", script]);
    fleet.ok(&["run", "--until-idle"]);
    let id = task["id"].as_str().unwrap();
    is_run(&json(&["task", "show", id])["runs"][0], "");
    let list = json(&["list", "--all"]);
    shape(&list, "runs: list; more: boolean; elsewhere: number");
    is_run(&list["runs"][0], SURROUNDED);
    let shown = json(&["show", "seen"]);
    let more = "attempts: number; attempts_allowed: number; report: object or null; result: object or null; notes: list; \
        snapshots: list; setup_log: list of strings; files: list; next: list of strings";
    is_run(&shown, &format!("{SURROUNDED}; {more}"));
    is_event(&shown["notes"][0]);
    shape(&shown["snapshots"][0], "name: string; number: number; commit: string; why: string; at: time");
    shape(&shown["files"][0], "path: string; bytes: number");
    for name in shown["result"].as_object().unwrap().keys() {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/json.md says nothing of {name}");
    }
    let section = PAGE.split("\n## ").find(|section| section.starts_with("Logs")).unwrap();
    for entry in json_lines(&fleet.ok(&["logs", "seen", "--json"])) {
        let kind = entry["kind"].as_str().unwrap();
        let row = section.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{kind}`")));
        let row = row.unwrap_or_else(|| panic!("docs/json.md has no entry {kind}"));
        for name in entry.as_object().unwrap().keys().filter(|name| *name != "kind") {
            assert!(row.contains(&format!("`{name}`")), "{name} of {entry}: {row}");
        }
    }
    let diff = json(&["diff", "seen"]);
    shape(
        &diff,
        "run: string; branch: string or null; base: string; of: string; snapshot: string or null; commits: list; \
         commit_count: number; files: list; file_count: number; added: number; deleted: number",
    );
    shape(&diff["commits"][0], "id: string; subject: string");
    shape(
        &diff["files"][0],
        "status: string; path: string; old_path: string or null; added: number or null; deleted: number or null",
    );
}

fn answers_of_other_commands(world: &World) {
    let json = |arguments: &[&str]| world.fleet.json(arguments);
    for event in json_lines(&world.fleet.ok(&["events", "--since", "0", "--json"])) {
        is_event(&event);
    }
    let settings = json(&["config", "show"]);
    shape(&settings, "settings: list");
    shape(&settings["settings"][0], "key: string; value: string; origin: object");
    shape(&json(&["config", "get", "agents.x.model"]), "key: string; value: string or null; origin: object");
    let set = json(&["config", "set", "tasks.priority", "4"]);
    shape(&set, "key: string; value: number; origin: object");
    shape(&set["origin"], "kind: string; path: string; line: number");
    shape(&json(&["config", "unset", "tasks.priority"]), "key: string; path: string; removed: boolean");
    let edited = world.fleet.env("EDITOR", "true").json(&["config", "edit"]);
    shape(&edited, "changed: boolean; path: string");
    let report = json(&["config", "validate"]);
    shape(&report, "problems: list; warnings: list of strings; files: list of strings");
    answers_of_workflow_files(world);
    let found = json(&["doctor"]);
    shape(&found, "checks: list; healthy: boolean");
    for check in found["checks"].as_array().unwrap() {
        shape(check, "name: string; verdict: string; detail: string; hints: list of strings");
    }
    world.repo.write(".fleet/config.toml", "workspaces.setup = ['true']\n");
    shape(
        &json(&["setup"])["clients"][0],
        "client: string; scope: string; installed: boolean; file: string; status: string; command: list of strings; \
         problem: string or null",
    );
    shape(
        &json(&["setup", "claude"]),
        "client: string; scope: string; file: string; done: string; command: list of strings; \
         changes: list of strings; dry_run: boolean",
    );
    let agreed = json(&["trust", "--yes"]);
    shape(&agreed, "project: string; commands: list; trusted: boolean; changed: boolean");
    shape(&agreed["commands"][0], "key: string; value: list of strings; origin: object");
    let listing = json(&["trust", "--list"]);
    shape(&listing, "trusted: list; here: object or null");
    shape(&listing["trusted"][0], "project: string; hash: string; at: time");
    shape(&listing["here"], "project: string; commands: list; trusted: boolean");
    shape(&json(&["trust", "--revoke"]), "project: string; revoked: boolean");
    shape(&json(&["explain"])["codes"][0], "code: string; summary: string");
    shape(&json(&["explain", "usage"]), "code: string; summary: string; text: string");
    shape(
        &json(&["why", &world.add("Asked about")]),
        "task: string; title: string; status: string; run: string or null; attempt: number or null; agent: string; \
         reason: string or null; what: string; evidence: list of strings; next: string; next_at: time or null; \
         advice: list of strings",
    );
}

fn answers_of_workflow_files(world: &World) {
    let json = |arguments: &[&str]| world.fleet.json(arguments);
    shape(&json(&["workflow", "init", "--list"])["workflows"][0], "name: string; about: string");
    let written = json(&["workflow", "init", "plan-fanout-integrate"]);
    shape(&written, "name: string; path: string; format: string; named: string");
    world.repo.write("wrong.toml", "stags = 1\n");
    let checked =
        world.fleet.run(&["workflow", "check", "plan-fanout-integrate", "wrong.toml", "none", "--json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    for one in checked["workflows"].as_array().unwrap() {
        shape(
            one,
            "file: string; kind: string or null; ok: boolean; diagnostics: list; workflow: object or null",
        );
        for diagnostic in one["diagnostics"].as_array().unwrap() {
            shape(
                diagnostic,
                "severity: string; file: string; line: number or null; column: number or null; message: string; \
                 help: list of strings; source: string or null",
            );
        }
    }
    let workflow = &checked["workflows"][0]["workflow"];
    shape(workflow, "name: string; wants: object; stages: list");
    shape(&workflow["wants"], "task: boolean; params: list of strings");
    for stage in workflow["stages"].as_array().unwrap() {
        shape(
            stage,
            "name: string; level: number; agent: string; model: string or null; needs: list of strings; start: string; \
             changes: string; returns: string; when: string or null; parts: number or null; each_of: string or null",
        );
    }
}

#[track_caller]
fn is_prompt(value: &Value) {
    shape(
        value,
        "number: number; text: string; by: string; at: time; run: string or null; sent_at: time or null",
    );
}

fn answers_of_prompts(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "false").env("FLEET_AGENT", "demo");
    let task = world.add("Asked for more");
    for command in ["hold", "cancel", "show"] {
        let told = fleet.json(&["prompt", &task, "More"]);
        shape(&told, "task: object; run: string or null; prompt: object; reception: string");
        is_task(&told["task"], false, "");
        is_prompt(&told["prompt"]);
        fleet.ok(&["task", command, &task]);
    }
    is_prompt(&fleet.json(&["task", "show", &task])["prompts"][0]);
}

const AGENT: &str = "name: string; title: string; is_default: boolean; program: string or null; \
    path: string or null; version: string or null; version_problem: string or null; login: object; \
    model: string or null; models: list of strings; aliases: object; trust: string; cap: number or null; \
    account: string; paused_until: time or null; pause_reason: string or null; takes_prompts: boolean";

fn answers_about_agents(world: &World) {
    // Whatever is installed on this machine is none of the test's business.
    let fleet = world.fleet.env("PATH", "/nowhere");
    let all = fleet.json(&["agents"]);
    shape(&all, "agents: list");
    for agent in all["agents"].as_array().unwrap() {
        shape(agent, AGENT);
        shape(&agent["login"], "state: string; sign: string or null");
    }
    let shown = fleet.json(&["agents", "show", "demo"]);
    let more = "trust_levels: list; effort: string or null; args: list of strings; system_prompt: boolean; \
        mcp: string or null; structured: boolean; context_limit: number or null; fallback: list of strings; install: string; login_help: string";
    shape(&shown, &format!("{AGENT}; {more}"));
    shape(&shown["trust_levels"][0], "trust: string; means: string; chosen: boolean");
    let tested = world.fleet.json(&["agents", "test", "demo"]);
    shape(
        &tested,
        "agent: string; model: string or null; ok: boolean; reason: string or null; steps: list; \
         next: list of strings; seconds: real",
    );
    shape(&tested["steps"][0], "name: string; verdict: string; detail: string");
    let prices = fleet.json(&["agents", "prices"]);
    shape(&prices, "prices: list; file: string");
    shape(
        &prices["prices"][0],
        "model: string; input: number; output: number; cache_read: number; cache_write: number; \
         file: string or null; date: string or null",
    );
    for verb in ["pause", "resume"] {
        let done = fleet.json(&["agents", verb, "demo"]);
        shape(&done, "account: string; paused_until: time or null; changed: boolean");
    }
    let told = fleet.stdin("x\n").json(&["agents", "decode", "demo"]);
    shape(
        &told,
        "agent: string; session: string or null; ended: boolean; outcome: object; usage: object; \
         micro_usd: number or null; meter: object or null; final_text: string or null; files: list of strings; \
         retries: number; denied: number; lines: number; unknown_lines: number; events_left_out: number; \
         events: list",
    );
    shape(
        &told["outcome"],
        "ok: boolean; reason: string or null; text: string or null; until: object or null",
    );
    shape(&told["usage"], "input: number; output: number; cache_read: number; cache_write: number");
}

fn answers_of_launches(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "false").env("FLEET_AGENT", "demo");
    let created = fleet.json(&["create", "launched", "--detach", "-p", "One"]);
    shape(&created, "batch: string or null; tasks: list");
    is_task(&created["tasks"][0], false, "run: object or null");
    let spread = fleet.json(&["fanout", "2", "--detach", "-p", "Two"]);
    shape(&spread, "batch: string; tasks: list");
    is_task(&spread["tasks"][1], false, "run: object or null");
    shape(&fleet.json(&["multi", "three:Three", "--detach"]), "batch: string; tasks: list");
    let id = created["tasks"][0]["id"].as_str().unwrap();
    fleet.ok(&["task", "hold", id]);
    let resumed = fleet.json(&["resume", id, "--detach"]);
    shape(&resumed, "batch: string or null; tasks: list");
    is_task(&resumed["tasks"][0], false, "run: object or null");
}

#[track_caller]
fn is_workflow(value: &Value, more: &str) {
    let mut fields = table_of("A workflow", 0);
    for (name, kind) in more.split("; ").filter_map(|field| field.split_once(": ")) {
        fields.insert(name.to_owned(), kind.to_owned());
        assert!(PAGE.contains(&format!("`{name}`")), "docs/json.md says nothing of {name}");
    }
    exactly(value, &fields);
    let progress = "total: number; pending: number; running: number; done: number; failed: number; \
        cancelled: number; skipped: number";
    shape(&value["progress"], progress);
    for stage in value["stages"].as_array().into_iter().flatten() {
        exactly(stage, &table_of("A workflow", 1));
    }
}

const ALONE: &str = "project_name: string; task: string; params: object; stages: list; next: list of strings";

fn answers_about_workflows(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "true").env("FLEET_AGENT", "demo");
    let json = |arguments: &[&str]| fleet.json(arguments);
    let judge = "needs = ['a', 'b']\nread_only = true\nreturns = 'verdict'\nprompt = 'Choose'";
    let text =
        format!("task = 'x'\n[stages.a]\nprompt = 'A'\n[stages.b]\nprompt = 'B'\n[stages.judge]\n{judge}\n");
    let file = fleet.user_home().join("contest.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let plan = json(&["workflow", "run", file, "--dry-run"]);
    shape(&plan, "name: string; task: string; base: string; stages: list");
    shape(
        &plan["stages"][0],
        "name: string; needs: list of strings; agent: string; model: string or null; start: string; \
         returns: string; when: string or null; copies: number or null; prompt: string or null",
    );
    let ran = json(&["workflow", "run", file]);
    is_workflow(&ran, ALONE);
    let id = ran["id"].as_str().unwrap();
    is_workflow(&json(&["workflow", "show", id]), ALONE);
    is_workflow(&json(&["workflow", "watch", id]), ALONE);
    let list = json(&["workflow", "list", "--all"]);
    shape(&list, "workflows: list; next: string or null; projects: object");
    is_workflow(&list["workflows"][0], "");
    let result = json(&["workflow", "result", id]);
    is_workflow(&result, "results: list; winner: object; branches: list of strings; next: list of strings");
    shape(&result["winner"], "stage: string; branch: string; by: string");
    shape(
        &result["results"][0],
        "name: string; state: string; why: string or null; task: string; run: string; agent: string; \
         branch: string or null; verdict: object; items: list of strings; result: object",
    );
    let stage = ran["stages"][0]["task"].as_str().unwrap();
    let more = "project_name: string; workflow_name: string; stage: string; after: list; before: list; runs: list; \
        prompts: list; events: list";
    is_task(&json(&["task", "show", stage]), true, more);
    is_workflow(&json(&["workflow", "retry", id, "--from", "judge", "--detach"]), ALONE);
    let cancelled = json(&["workflow", "cancel", id]);
    shape(&cancelled, "workflows: list");
    let more = "stopped: list of strings; unstarted: list of strings; over: list of strings; \
        going_on: list of strings";
    is_workflow(&cancelled["workflows"][0], more);
    let kept = json(&["workflow", "clean", id]);
    shape(&kept, "dry_run: boolean; deleted: list of strings; removed: list; kept: list");
    let gone = json(&["workflow", "clean", id, "--discard", "--yes"]);
    shape(&gone, "dry_run: boolean; deleted: list of strings; removed: list; kept: list");
    for event in json_lines(&fleet.ok(&["events", "--since", "0", "-n", "9999", "--json"])) {
        is_event(&event);
    }
    fleet.ok(&["stop", "--agents"]);
}

#[test]
fn json_of_workflows_is_as_documented() {
    answers_about_workflows(&World::sqlite());
    answers_about_workflows(&World::postgres());
}

/// What `export` writes is what the table of import has, but for the names that only people give.
fn lines_of_an_export(world: &World) {
    let section = PAGE.split("\n## ").find(|section| section.starts_with("Import and export")).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    for line in json_lines(&world.fleet.ok(&["task", "export"])) {
        for name in line.as_object().unwrap().keys() {
            assert!(documented.contains(name.as_str()), "docs/json.md has no field {name} of a line");
        }
    }
}

#[test]
fn json_is_as_documented_on_sqlite() {
    let world = World::sqlite();
    answers_of_task_commands(&world);
    answers_about_tasks_as_a_whole(&world);
    answers_of_launches(&world);
    answers_of_prompts(&world);
    answers_of_other_commands(&world);
    answers_about_agents(&world);
    lines_of_an_export(&world);
}

#[test]
fn json_is_as_documented_on_postgresql() {
    let world = World::postgres();
    answers_of_task_commands(&world);
    answers_of_launches(&world);
    answers_of_prompts(&world);
    answers_of_other_commands(&world);
}

#[test]
fn json_of_runs_is_as_documented() {
    answers_of_run_commands(&World::sqlite());
    answers_of_run_commands(&World::postgres());
    answers_about_work(&World::sqlite());
}
