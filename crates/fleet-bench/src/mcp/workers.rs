//! One worker: how long its order takes, and how long until its result is collected.

use std::time::Instant;

use fleet_testkit::repo::Repo;
use serde_json::{Value, json};

use super::beside;
use super::rig::{McpRig, Served, ServerKind, WorkerTask, id, order, repository};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};
use crate::timing::median;

const ROUNDS: usize = 21;
/// Caches fill, and a runner starts.
const WARM: usize = 3;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    beside(setting, |rig| {
        [WorkerTask::Nothing, WorkerTask::Change].into_iter().flat_map(|work| measure(rig, work)).collect()
    })
}

fn measure(rig: &McpRig, work: WorkerTask) -> Vec<ReportRow> {
    let (mut ours, mut theirs) = (
        MeasuredServer::new(rig, ServerKind::Ours, work),
        MeasuredServer::new(rig, ServerKind::Theirs, work),
    );
    for round in 0..ROUNDS + WARM {
        ours.round(round >= WARM);
        theirs.round(round >= WARM);
    }
    let note = ours.parts();
    let (ours, theirs) = (ours.medians(), theirs.medians());
    let words = work.words();
    let row = |what: String, at: usize, bound: f64| {
        ReportRow::new(what, (ours[at], "ms"), (theirs[at], "ms, the original"), Goal::AtMost(bound))
            .note(&note)
    };
    let collected = row(format!("from `create_worker` to the collected result, {words}"), 1, 1.0);
    match work {
        WorkerTask::Nothing => vec![row("`create_worker` answers".to_owned(), 0, 0.3), collected],
        WorkerTask::Change => vec![collected],
    }
}

/// One server with what was measured of it.
struct MeasuredServer {
    server: Served,
    repo: Repo,
    created: Vec<f64>,
    collected: Vec<f64>,
    /// What the worker itself says: until it started, until it ended, until its result was asked for.
    parts: [Vec<f64>; 3],
}

impl MeasuredServer {
    fn new(rig: &McpRig, whose: ServerKind, work: WorkerTask) -> Self {
        let parts = [Vec::new(), Vec::new(), Vec::new()];
        Self { server: rig.serve(whose), repo: repository(work), created: vec![], collected: vec![], parts }
    }

    fn round(&mut self, counts: bool) {
        let begun = Instant::now();
        let since = |begun: Instant| begun.elapsed().as_secs_f64() * 1_000.0;
        let worker = self.server.call("create_worker", order(self.repo.path()));
        let created = since(begun);
        let which = json!({"worker_id": id(&worker, "worker_id")});
        let Some(result) = self.server.until_over("collect_worker_result", &which) else { return };
        let collected = since(begun);
        assert_eq!(result["status"], "succeeded", "{result}");
        assert_eq!(result["result"]["summary"], "done", "{result}");
        if counts {
            self.created.push(created);
            self.collected.push(collected);
            self.keep_parts(&result, collected);
        }
    }

    fn keep_parts(&mut self, result: &Value, collected: f64) {
        let moment = |name: &str| result[name].as_f64().unwrap_or_default() * 1_000.0;
        let queued = moment("started_at") - moment("created_at");
        let run = moment("ended_at") - moment("started_at");
        for (part, value) in self.parts.iter_mut().zip([queued, run, collected - queued - run]) {
            part.push(value);
        }
    }

    fn parts(&self) -> String {
        let [queued, run, rest] = self.parts.each_ref().map(|part| median(part.clone()));
        format!(
            "{queued:.1} ms from the order in the store to the run, {run:.1} ms from there to its end, {rest:.1} ms \
             before and after them (the order itself, the end being noticed, the result being read)"
        )
    }

    fn medians(self) -> [f64; 2] {
        [median(self.created), median(self.collected)]
    }
}
