//! Answers about settings, consent, events and advice.

use super::super::support::{World, json_lines};
use super::page::{is_event, shape};

pub(super) fn answers_of_other_commands(world: &World) {
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
    let found = json(&["doctor"]);
    shape(&found, "checks: list; healthy: boolean");
    for check in found["checks"].as_array().unwrap() {
        shape(check, "name: string; verdict: string; detail: string; hints: list of strings");
    }
    shape(
        &json(&["init", "--yes"]),
        "path: string; type: string; text: string; backup: string or null; gitignore: list of strings; \
         needs_trust: boolean; dry_run: boolean",
    );
    world.repo.write(".aifleet/config.toml", "[setup]\ncommands = ['true']\n");
    shape(
        &json(&["init", "--migrate", "--yes"])["steps"][0],
        "from: string; to: string or null; backup: string or null; settings: list of strings; tasks: number; \
         remarks: list of strings",
    );
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
    world.repo.write(".fleet/templates/task.md", "{task}");
    let agreed = json(&["trust", "--yes"]);
    shape(&agreed["files"][0], "path: string; sha256: string or null");
    shape(
        &agreed,
        "project: string; commands: list; files: list; trusted: boolean; untrusted: list; changed: boolean",
    );
    shape(&agreed["commands"][0], "key: string; value: list of strings; origin: object");
    let listing = json(&["trust", "--list"]);
    shape(&listing, "trusted: list; here: object or null");
    shape(
        &listing["trusted"][0],
        "project: string; hash: string; setting: string or null; file: string or null; content: string or null; \
         at: time",
    );
    shape(
        &listing["here"],
        "project: string; commands: list; files: list; trusted: boolean; untrusted: list",
    );
    shape(&json(&["trust", "--revoke"]), "project: string; revoked: boolean");
    shape(
        &json(&["update", "--check"]),
        "current: string; latest: string or null; is_newer: boolean; installed_by: string; \
         command: list of strings; advice: list of strings",
    );
    shape(&json(&["explain"])["codes"][0], "code: string; summary: string");
    shape(&json(&["explain", "usage"]), "code: string; summary: string; text: string");
    shape(
        &json(&["why", &world.add("Asked about")]),
        "task: string; title: string; status: string; run: string or null; attempt: number or null; agent: string; \
         reason: string or null; what: string; evidence: list of strings; next: string; next_at: time or null; \
         advice: list of strings",
    );
}
