//! Many agents at work at once that print ten lines a second: what each of them costs must not grow with their number.

use super::rig::{RunRig, script, wait};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::{median, millis};

const AGENTS: [usize; 4] = [50, 100, 200, 400];
/// At ten a second: longer than anything takes here.
const LINES: usize = 1_800;
const LISTS: usize = 11;
const ADDS: usize = 60;
/// Growth from the smallest number of agents.
const GROWTH: Goal = Goal::AtMost(1.5);

/// What was measured with this many agents, in milliseconds.
struct Live {
    agents: usize,
    start_each: f64,
    list_each: f64,
    add: f64,
    worst_add: f64,
}

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    let all: Vec<Live> = AGENTS.into_iter().map(|agents| measure(setting, agents)).collect();
    let (few, more) = all.split_first().expect("several sizes");
    more.iter().flat_map(|many| rows(few, many)).collect()
}

fn rows(few: &Live, many: &Live) -> Vec<ReportRow> {
    let at = format!("ms with {} agents", few.agents);
    let row = |what: &str, of: fn(&Live) -> f64| {
        let what = format!("{what}, {} agents that print ten lines a second", many.agents);
        ReportRow::new(what, (of(many), "ms"), (of(few), at.as_str()), GROWTH)
    };
    vec![
        row("start of each agent", |live| live.start_each),
        row("`fleet list`, for each agent", |live| live.list_each),
        row("`fleet task add`, median", |live| live.add),
        row("`fleet task add`, worst of 60", |live| live.worst_add),
    ]
}

fn measure(setting: &BenchSetting, agents: usize) -> Live {
    let mut rig = RunRig::new(setting, 10);
    import(&rig, agents);
    let started = millis(|| {
        rig.start(&agents.to_string());
        wait("all agents work", || (0..agents).all(|number| mark(&rig, number).exists()));
    });
    let limit = agents.to_string();
    let list = median((0..LISTS).map(|_| millis(|| rig.fleet(&["list", "-n", &limit]))).collect());
    let add = || millis(|| rig.fleet(&["task", "add", "one more", "--agent", "demo"]));
    let adds: Vec<f64> = (0..ADDS).map(|_| add()).collect();
    let worst_add = adds.iter().copied().fold(0.0, f64::max);
    let each = |total: f64| total / agents as f64;
    let live =
        Live { agents, start_each: each(started), list_each: each(list), add: median(adds), worst_add };
    eprintln!(
        "{agents} agents: {:.1} ms to start each, list {:.3} ms each, add {:.1} ms, at worst {:.1} ms",
        live.start_each, live.list_each, live.add, live.worst_add
    );
    live
}

fn mark(rig: &RunRig, number: usize) -> std::path::PathBuf {
    rig.mark(&format!("agent-{number}"))
}

/// Tasks whose agents say that they work, and then talk until they are stopped.
fn import(rig: &RunRig, agents: usize) {
    let lines = "say a line as long as those of agents mostly are\nsleep 100ms\n".repeat(LINES);
    let entry = |number: usize| {
        let steps = script(&format!("touch {}\n{lines}", mark(rig, number).display()));
        let task = serde_json::json!({
            "title": "talk", "agent": "demo", "read_only": true, "description": steps,
        });
        format!("{task}\n")
    };
    let file = rig.mark("tasks.jsonl");
    std::fs::write(&file, (0..agents).map(entry).collect::<String>()).expect("a file");
    rig.fleet(&["task", "import", file.to_str().expect("a plain path")]);
}
