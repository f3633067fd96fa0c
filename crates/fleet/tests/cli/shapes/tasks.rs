//! Answers about tasks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::support::{World, json_lines};
use super::page::{are_tasks, is_event, is_task, section, shape};

pub(super) fn answers_of_task_commands(world: &World) {
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
        shape(&list, "tasks: list; more: boolean; projects: object; missing_agents: object");
        are_tasks(&list["tasks"], false);
    }
    let shown = json(&["task", "show", other]);
    let more = "default_agent: string; project_name: string; workflow_name: string or null; stage: string or null; after: list; \
        before: list; starts_from: list of strings; runs: list; asked: list of strings; messages: list; prompts: list; events: list";
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
    shape(
        &world.fleet.stdin(line).json(&["task", "import", "-"]),
        "ids: list of strings; format: string; skipped: number; dry_run: boolean",
    );
    let gone = json(&["task", "delete", "--yes", other]);
    shape(&gone, "deleted: list");
    are_tasks(&gone["deleted"], true);
}

pub(super) fn answers_about_tasks_as_a_whole(world: &World) {
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

pub(super) fn answers_of_launches(world: &World) {
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
fn is_message(value: &Value) {
    shape(
        value,
        "id: string; number: number; kind: string; text: string; by: string; at: time; expires_at: time or null; \
         state: string; run: string or null; delivered_at: time or null; seen_at: time or null; \
         sent_at: time or null",
    );
}

pub(super) fn answers_of_prompts(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "false").env("FLEET_AGENT", "demo");
    let task = world.add("Asked for more");
    for command in ["hold", "cancel", "show"] {
        let told = fleet.json(&["prompt", &task, "More"]);
        shape(
            &told,
            "task: object; run: string or null; agent: string or null; prompt: object; reception: string",
        );
        is_task(&told["task"], false, "");
        is_message(&told["prompt"]);
        fleet.ok(&["task", command, &task]);
    }
    let shown = fleet.json(&["task", "show", &task]);
    is_message(&shown["messages"][0]);
    is_message(&shown["prompts"][0]);
}

/// What `export` writes is what the table of import has, but for the names that only people give.
pub(super) fn lines_of_an_export(world: &World) {
    let rows = section("Import and export").lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    for line in json_lines(&world.fleet.ok(&["task", "export"])) {
        for name in line.as_object().unwrap().keys() {
            assert!(documented.contains(name.as_str()), "docs/json.md has no field {name} of a line");
        }
    }
}
