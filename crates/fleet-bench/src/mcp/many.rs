//! Two hundred workers at once, what it takes, and whether others are served meanwhile.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::beside;
use super::rig::{Rig, Served, Whose, Work, id, order, repository};
use crate::Setting;
use crate::report::{Goal, Row};
use crate::timing::median;

const WORKERS: usize = 200;
const ROUNDS: usize = 3;
/// So many are being created when somebody asks for something else.
const CROWD: usize = 50;
/// Little beside the whole, and enough to leave the server alone.
const LOOK: Duration = Duration::from_millis(20);
const BOUND_MILLIS: f64 = 20.0;
const BOUND_MIB: f64 = 20.0;

/// What was seen of one server in one round.
struct Seen {
    all: f64,
    other: f64,
    mib: f64,
}

pub(crate) fn run(setting: &Setting) -> Vec<Row> {
    beside(setting, measure)
}

fn measure(rig: &Rig) -> Vec<Row> {
    let mut seen = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (seen, whose) in seen.iter_mut().zip([Whose::Ours, Whose::Theirs]) {
            seen.push(round(rig, whose));
        }
    }
    let of = |get: fn(&Seen) -> f64| seen.each_ref().map(|seen| median(seen.iter().map(get).collect()));
    let [all, other, mib] = [of(|seen| seen.all), of(|seen| seen.other), of(|seen| seen.mib)];
    let fixed = |what: &str, [ours, theirs]: [f64; 2], bound: f64, unit: &str| {
        let baseline = format!("{unit} (fixed bound); the original {theirs:.0} {unit}");
        Row::new(what, (ours, unit), (bound, &baseline), Goal::AtMost(1.0))
    };
    vec![
        Row::new("200 no-op workers", (all[0], "ms"), (all[1], "ms, the original"), Goal::AtMost(0.6)),
        fixed("another call while 50 workers are being created", other, BOUND_MILLIS, "ms"),
        fixed("the MCP server's memory afterwards", mib, BOUND_MIB, "MiB"),
    ]
}

fn round(rig: &Rig, whose: Whose) -> Seen {
    let repo = repository(Work::Nothing);
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
    all_over(&mut server);
    let all = begun.elapsed().as_secs_f64() * 1_000.0;
    Seen { all, other, mib: server.resident_mib() }
}

/// With a list of all that are not over: an empty one is the end.
fn all_over(server: &mut Served) {
    let open = json!({"statuses": ["pending", "running"], "limit": 1});
    server
        .until(LOOK, "list_workers", &open, |answer| answer["workers"].as_array().is_some_and(Vec::is_empty));
    let failed: Value = json!({"statuses": ["failed", "timed_out", "cancelled"], "limit": 1});
    let failed = server.call("list_workers", failed);
    assert_eq!(failed["workers"], json!([]), "all went well");
}
