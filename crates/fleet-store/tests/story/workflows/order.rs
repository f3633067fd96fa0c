//! Who locks what first. Only PostgreSQL has locks on rows; SQLite has one writer.

use std::time::Duration;

use fleet_core::id::WorkflowId;
use fleet_core::run::Run;
use fleet_core::task::TaskMove;
use fleet_core::workflow::PartState;
use fleet_store::ops::{CancelIdle, CloseRun};
use fleet_store::{Op, StoreUrl};

use super::acts::{spec, stage};
use crate::harness::{Engine, Rig, place};

/// Far above what it takes to come to a lock.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs an operation while another program holds the workflow: it waits for that, and holds neither the task nor its run
/// meanwhile. Held, they would be waited for by whoever holds the workflow and goes on to its other stages.
async fn waits<O: Op>(rig: &Rig, id: WorkflowId, op: O) {
    let StoreUrl::Postgres(url) = rig.place().url() else { panic!("a file has no locks on rows") };
    let holder = place::postgres(&url).await;
    let hold = format!("BEGIN; SELECT 1 FROM workflows WHERE id = '{id}' FOR UPDATE");
    holder.batch_execute(&hold).await.unwrap();
    let other = rig.clone();
    let moving = tokio::spawn(async move { other.store.call(op).await.map(drop) });
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let until_it_waits = async {
        while rig.place().count(waiting).await == 0 {
            assert!(!moving.is_finished(), "it did not wait");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::time::timeout(PATIENCE, until_it_waits).await.expect("it comes to the lock");
    let free =
        |table: &str| format!("SELECT count(*) FROM (SELECT 1 FROM {table} FOR UPDATE SKIP LOCKED) AS f");
    let all = |table: &str| format!("SELECT count(*) FROM {table}");
    for table in ["tasks", "runs"] {
        let (free, all) = (rig.place().count(&free(table)).await, rig.place().count(&all(table)).await);
        assert_eq!(free, all, "it holds {table} already");
    }
    holder.batch_execute("COMMIT").await.unwrap();
    moving.await.unwrap().expect("it goes on when the workflow is free");
}

async fn claimed(rig: &Rig) -> (WorkflowId, Run) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    let run = rig.run_of(id, "a").await;
    (id, run)
}

async fn whoever_moves_a_stage_waits_for_its_workflow_first(rig: &Rig) {
    let (id, run) = claimed(rig).await;
    waits(rig, id, rig.ending_as(&run, PartState::Failed)).await;
    let task = run.task;
    waits(rig, id, rig.moving(task, TaskMove::Retry)).await;
    waits(rig, id, CancelIdle { id: task, remark: None, now: rig.now() }).await;
    waits(rig, id, rig.saying(task, "once more")).await;
    waits(rig, id, rig.cancelling(id)).await;
    waits(rig, id, rig.retrying(id, None)).await;

    let (id, run) = claimed(rig).await;
    let end = rig.ending_as(&run, PartState::Failed);
    waits(rig, id, CloseRun { last: None, exited: false, end }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_workflow_comes_first() {
    Rig::tell(Engine::Postgres, whoever_moves_a_stage_waits_for_its_workflow_first).await;
}
