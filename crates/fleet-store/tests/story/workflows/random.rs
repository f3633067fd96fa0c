//! Random graphs with random fates, claimed and ended by several at once, against what the pure domain predicts.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::id::WorkflowId;
use fleet_core::workflow::{Condition, OnFailure, PartState, Spec, WorkflowState, predict};
use fleet_store::StoreError;
use fleet_store::ops::ListWorkflows;

use super::acts::{spec, stage};
use crate::harness::{Rig, together};

story! {
    random_graphs_end_as_predicted
    random_graphs_that_are_cancelled_end_all_the_same
}

/// What each part of each workflow comes to, should it be started.
type Fates = BTreeMap<WorkflowId, Vec<PartState>>;

/// Small, fast and the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

fn graph(dice: &mut Dice) -> (Spec, Vec<PartState>) {
    let count = 1 + dice.roll(20);
    let mut stages = Vec::new();
    let mut fates = Vec::new();
    for at in 0..count {
        let mut needs: Vec<usize> = (0..dice.roll(4)).filter(|_| at > 0).map(|_| dice.roll(at)).collect();
        needs.sort_unstable();
        needs.dedup();
        let mut stage = stage(&format!("s{at}"), &needs);
        stage.on_failure = OnFailure::ALL[dice.roll(3)];
        stage.when = needs.first().filter(|_| dice.roll(4) == 0).map(|need| wish(dice, *need));
        stages.push(stage);
        fates.push(match dice.roll(8) {
            0 => PartState::Failed,
            1 => PartState::Cancelled,
            _ => PartState::Done,
        });
    }
    (Spec { fail_fast: dice.roll(4) == 0, ..spec(stages) }, fates)
}

/// It is only wanted if a stage that it needs went well, or did not.
fn wish(dice: &mut Dice, need: usize) -> Condition {
    let no = if dice.roll(2) == 0 { "not " } else { "" };
    Condition::try_from(format!("{no}s{need}.ok")).unwrap()
}

/// Whether no workflow is left that goes on.
async fn is_all_over(rig: &Rig) -> bool {
    let states = vec![WorkflowState::Running, WorkflowState::Cancelling];
    rig.ok(ListWorkflows { project: None, states, before: None, limit: 1 }).await.workflows.is_empty()
}

/// Far above what any of it takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// Claims and ends until every workflow is over, as a runner and its keepers would. A run that was asked to stop is
/// cancelled.
async fn work(rig: Rig, fates: Fates) {
    while !is_all_over(&rig).await {
        for claimed in rig.claim(2).await {
            let of = claimed.task.part.expect("a part");
            let fate = fates[&of.workflow][of.part];
            if fate == PartState::Done {
                rig.work(&claimed.run).await;
            }
            let stopped = rig.ok(rig.renewing(&claimed.run)).await.stop.is_some();
            let fate = if stopped { PartState::Cancelled } else { fate };
            rig.ok(rig.ending_as(&claimed.run, fate)).await;
        }
    }
}

/// Whether somebody wants the workflows, once they have begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Wanted,
    Cancelled,
}

async fn cancel_all(rig: &Rig, ids: Vec<WorkflowId>) {
    for id in ids {
        match rig.store.call(rig.cancelling(id)).await {
            Ok(_) | Err(StoreError::IllegalWorkflow { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

async fn play(rig: &Rig, seed: u64, wish: Wish) {
    let mut dice = Dice(seed);
    let mut all = Fates::new();
    let mut specs = Vec::new();
    for _ in 0..15 {
        let (spec, fates) = graph(&mut dice);
        let id = rig.workflow(spec.clone()).await;
        all.insert(id, fates);
        specs.push((id, spec));
    }
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(work(rig.elsewhere().await, all.clone()));
    }
    let unwanted = all.keys().copied().filter(|_| wish == Wish::Cancelled).collect();
    let all_over = async { tokio::join!(together(workers), cancel_all(rig, unwanted)) };
    tokio::time::timeout(PATIENCE, all_over).await.expect("every workflow comes to its end");
    for (id, spec) in specs {
        let detail = rig.workflow_detail(id).await;
        let expected = predict(&spec, &all[&id]);
        let shown = rig.shown(id).await;
        if wish == Wish::Cancelled && detail.workflow.state == WorkflowState::Cancelled {
            assert!(detail.parts.iter().all(|part| part.part.state.is_over()), "{shown}");
            continue;
        }
        assert_eq!(detail.workflow.state, expected.state, "{shown}");
        for (part, may_be) in detail.parts.iter().zip(&expected.stages) {
            assert!(may_be.contains(&part.part.state.get()), "{} is not {may_be:?}: {shown}", part.name);
        }
    }
}

async fn random_graphs_end_as_predicted(rig: &Rig) {
    play(rig, 20_261_115, Wish::Wanted).await;
}

async fn random_graphs_that_are_cancelled_end_all_the_same(rig: &Rig) {
    play(rig, 51_116_202, Wish::Cancelled).await;
}
