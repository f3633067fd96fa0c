//! Answers about agents.

use super::super::support::World;
use super::page::shape;

const AGENT: &str = "name: string; title: string; is_default: boolean; program: string or null; \
    path: string or null; version: string or null; version_problem: string or null; login: object; \
    model: string or null; models: list of strings; aliases: object; trust: string; enforced: string; cap: number or null; \
    account: string; paused_until: time or null; pause_reason: string or null; takes_prompts: boolean";

pub(super) fn answers_about_agents(world: &World) {
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
    shape(&shown["trust_levels"][0], "trust: string; means: string; enforced: string; chosen: boolean");
    let tested = world.fleet.json(&["agents", "test", "demo"]);
    shape(
        &tested,
        "agent: string; model: string or null; ok: boolean; reason: string or null; steps: list; \
         next: list of strings; seconds: real; kept: string or null",
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
