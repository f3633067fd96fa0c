//! Answers about runs and what came of them.

use super::super::support::{World, json_lines};
use super::page::{PAGE, is_event, is_run, section, shape};

const SURROUNDED: &str = "title: string or null; task_state: string or null; batch: string or null; \
    project_name: string; load: object or null";

pub(super) fn answers_of_run_commands(world: &World) {
    let fleet = world.fleet.env("FLEET_AUTOSTART", "false");
    let json = |arguments: &[&str]| fleet.json(arguments);
    let script = "```demo\nthink a\nwrite a.txt x\nusage 1 2 0.5\nask why\nrate-limit 1s\nraw a\nerror auth b\nlie b\nsay c\n```";
    let task =
        json(&["task", "add", "Seen", "--agent", "demo", "--branch", "seen", "--retries", "0", "-d", script]);
    fleet.ok(&["run", "--until-idle"]);
    let id = task["id"].as_str().unwrap();
    is_run(&json(&["task", "show", id])["runs"][0], "");
    let list = json(&["list", "--all"]);
    shape(
        &list,
        "runs: list; more: boolean; queue: list; unstarted: list; projects: object; paused: list; elsewhere: number",
    );
    is_run(
        &list["runs"][0],
        &format!("{SURROUNDED}; task_branch: string or null; elsewhere: string or null"),
    );
    let shown = json(&["show", "seen"]);
    let more = "attempts: number; attempts_allowed: number; starts_from: list of strings; report: object or null; result: object or null; notes: list; \
        messages: list; snapshots: list; setup_log: list of strings; files: list; next: list of strings";
    is_run(&shown, &format!("{SURROUNDED}; {more}"));
    is_event(&shown["notes"][0]);
    shape(&shown["snapshots"][0], "name: string; number: number; commit: string; why: string; at: time");
    shape(&shown["files"][0], "path: string; bytes: number");
    for name in shown["result"].as_object().unwrap().keys() {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/json.md says nothing of {name}");
    }
    for entry in json_lines(&fleet.ok(&["logs", "seen", "--json"])) {
        let kind = entry["kind"].as_str().unwrap();
        let row =
            section("Logs").lines().find(|line| line.starts_with('|') && line.contains(&format!("`{kind}`")));
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

pub(super) fn answers_about_work(world: &World) {
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
    let compared = fleet.json(&["compare", "one", "two"]);
    shape(&compared, "runs: list; between: object or null");
    shape(&compared["between"], "files: number; diff: string");
    shape(
        &compared["runs"][0],
        "task: string; run: string; title: string; branch: string or null; agent: string; model: string or null; \
         state: string; changes: object or null; checks_passed: number; checks_failed: number; tests: list; \
         tokens: number; micro_usd: number; seconds: number",
    );
    shape(&compared["runs"][0]["changes"], "commits: number; files: number; added: number; deleted: number");
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
