//! Answers about workflows and their files.

use serde_json::Value;

use super::super::support::{World, json_lines};
use super::page::{and_more, exactly, is_event, is_task, shape, table_of};

pub(super) fn answers_of_workflow_files(world: &World) {
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
            "file: string; kind: string or null; ok: boolean; needs_consent: boolean; diagnostics: list; \
             workflow: object or null",
        );
        for diagnostic in one["diagnostics"].as_array().unwrap() {
            shape(
                diagnostic,
                "severity: string; file: string; line: number or null; column: number or null; message: string; \
                 help: list of strings; source: string or null; caret: number",
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
fn is_workflow(value: &Value, more: &str) {
    exactly(value, &and_more(table_of("A workflow", 0), more));
    let progress = "total: number; pending: number; running: number; done: number; failed: number; \
        cancelled: number; skipped: number";
    shape(&value["progress"], progress);
    for stage in value["stages"].as_array().into_iter().flatten() {
        exactly(stage, &table_of("A workflow", 1));
    }
}

const ALONE: &str = "project_name: string; task: string; params: object; stages: list; next: list of strings";

pub(super) fn answers_about_workflows(world: &World) {
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
    let more =
        "results: list; verdict: object; winner: object; branches: list of strings; next: list of strings";
    is_workflow(&result, more);
    shape(&result["winner"], "stage: string; branch: string; by: string");
    shape(
        &result["results"][0],
        "name: string; state: string; why: string or null; task: string; run: string; agent: string; \
         branch: string or null; verdict: object; items: list of strings; result: object; last: boolean",
    );
    let stage = ran["stages"][0]["task"].as_str().unwrap();
    let more = "default_agent: string; project_name: string; workflow_name: string; stage: string; after: list; before: list; \
        starts_from: list of strings; runs: list; asked: list of strings; messages: list; prompts: list; events: list";
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
