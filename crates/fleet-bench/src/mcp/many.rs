//! Two hundred workers at once, what it takes, and whether others are served meanwhile.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::beside;
use super::rig::{McpRig, Served, ServerKind, WorkerTask, id, order, repository};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::median;

const WORKERS: usize = 200;
const ROUNDS: usize = 3;
/// So many are being created when somebody asks for something else.
const CROWD: usize = 50;
/// Little beside the whole, and enough to leave the server alone.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const GIVEN_UP: Duration = Duration::from_secs(30);
const BOUND_MILLIS: f64 = 20.0;
const BOUND_MIB: f64 = 20.0;

/// What was seen of one server in one round.
struct RoundFigures {
    all: f64,
    /// How many never ended.
    lost: usize,
    other: f64,
    mib: f64,
}

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    beside(setting, measure)
}

fn measure(rig: &McpRig) -> Vec<ReportRow> {
    let mut seen = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (seen, whose) in seen.iter_mut().zip([ServerKind::Ours, ServerKind::Theirs]) {
            seen.push(round(rig, whose));
        }
    }
    let of =
        |get: fn(&RoundFigures) -> f64| seen.each_ref().map(|seen| median(seen.iter().map(get).collect()));
    let [all, other, mib] = [of(|seen| seen.all), of(|seen| seen.other), of(|seen| seen.mib)];
    let fixed = |what: &str, [ours, theirs]: [f64; 2], bound: f64, unit: &str| {
        let baseline = format!("{unit} (fixed bound); the original {theirs:.0} {unit}");
        ReportRow::new(what, (ours, unit), (bound, &baseline), Goal::AtMost(1.0))
    };
    let lost: usize = seen[1].iter().map(|seen| seen.lost).sum();
    let original = match lost {
        0 => "ms, the original".to_owned(),
        _ => format!("ms, the original without {lost} workers that it lost in {ROUNDS} rounds"),
    };
    vec![
        ReportRow::new("200 no-op workers", (all[0], "ms"), (all[1], &original), Goal::AtMost(0.6)),
        fixed("another call while 50 workers are being created", other, BOUND_MILLIS, "ms"),
        fixed("the MCP server's memory afterwards", mib, BOUND_MIB, "MiB"),
    ]
}

fn round(rig: &McpRig, whose: ServerKind) -> RoundFigures {
    let repo = repository(WorkerTask::Nothing);
    let mut server = rig.serve(whose);
    let order = order(repo.path());
    // The first one starts what has to be started.
    let first = server.call("create_worker", order.clone());
    let known = json!({"worker_id": id(&first, "worker_id")});
    server.until_over("get_worker_status", &known);

    let begun = Instant::now();
    let orders: Vec<u64> =
        (0..CROWD).map(|_| server.client.send_call("create_worker", order.clone())).collect();
    let asked = Instant::now();
    server.call("get_worker_status", known);
    let other = asked.elapsed().as_secs_f64() * 1_000.0;
    let more: Vec<u64> =
        (CROWD..WORKERS).map(|_| server.client.send_call("create_worker", order.clone())).collect();
    for order in orders.into_iter().chain(more) {
        server.answer(order);
    }
    let (lost, ended) = all_over(&mut server);
    assert!(whose == ServerKind::Theirs || lost == 0, "none of ours is lost");
    let all = (ended - begun).as_secs_f64() * 1_000.0;
    RoundFigures { all, lost, other, mib: server.resident_mib() }
}

/// Until no worker is open any more, or until the rest does not change for so long that nobody would wait for it: the
/// original loses workers when many end at once. Returns how many those are, and when the last one ended.
fn all_over(server: &mut Served) -> (usize, Instant) {
    let open = json!({"statuses": ["pending", "running"], "limit": WORKERS});
    let (mut left, mut changed) = (WORKERS + 1, Instant::now());
    while left > 0 && changed.elapsed() < GIVEN_UP {
        let answer = server.call("list_workers", open.clone());
        let now = answer["workers"].as_array().map_or(left, Vec::len);
        if now != left {
            (left, changed) = (now, Instant::now());
        }
        thread::sleep(POLL_INTERVAL);
    }
    let failed =
        server.call("list_workers", json!({"statuses": ["failed", "timed_out", "cancelled"], "limit": 1}));
    assert_eq!(failed["workers"], json!([]), "the others went well");
    (left, changed)
}
