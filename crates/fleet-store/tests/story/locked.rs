//! Another program at the store that holds what everybody needs.

use std::thread::JoinHandle;
use std::time::Duration;

use fleet_core::task::{TaskMove, TaskState};
use fleet_store::StoreUrl;
use tokio::sync::oneshot;

use crate::harness::{Rig, place, together};

story! {
    operations_wait_for_another_program_that_writes
}

/// How long the other program keeps everybody waiting.
const HELD: Duration = Duration::from_secs(2);

/// Takes the lock of all writers, says so, and keeps it until it is told to let go.
async fn hold(url: StoreUrl, taken: oneshot::Sender<()>, release: oneshot::Receiver<()>) {
    match url {
        StoreUrl::Sqlite(path) => {
            let connection = place::sqlite(&path);
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            taken.send(()).unwrap();
            release.await.unwrap();
            connection.execute_batch("ROLLBACK").unwrap();
        }
        StoreUrl::Postgres(url) => {
            let client = place::postgres(&url).await;
            client.batch_execute("BEGIN; LOCK TABLE tasks IN EXCLUSIVE MODE").await.unwrap();
            taken.send(()).unwrap();
            release.await.unwrap();
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    }
}

/// On a thread of its own: a connection to SQLite cannot travel between threads.
fn spawn_holder(rig: &Rig) -> (JoinHandle<()>, oneshot::Receiver<()>, oneshot::Sender<()>) {
    let (say_taken, taken) = oneshot::channel();
    let (say_release, release) = oneshot::channel();
    let url = rig.place().url();
    let holder = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(hold(url, say_taken, release));
    });
    (holder, taken, say_release)
}

async fn operations_wait_for_another_program_that_writes(rig: &Rig) {
    let tasks = rig.tasks(20).await;
    let (holder, taken, release) = spawn_holder(rig);
    taken.await.unwrap();
    assert_eq!(rig.get(tasks[0]).await.task.id, tasks[0], "reading waits for nobody");
    let (elsewhere, onlooker) = (rig.elsewhere().await, rig.elsewhere().await);
    let operations = together(tasks.iter().enumerate().map(|(n, id)| {
        let rig = if n % 2 == 0 { rig.clone() } else { elsewhere.clone() };
        let op = rig.moving(*id, TaskMove::Hold);
        async move { rig.ok(op).await }
    }));
    let letting_go = async {
        tokio::time::sleep(HELD).await;
        assert_eq!(onlooker.state(tasks[0]).await, TaskState::Queued, "nobody got past the other program");
        release.send(()).unwrap();
    };
    tokio::join!(operations, letting_go);
    tokio::task::spawn_blocking(move || holder.join().unwrap()).await.unwrap();
    let kinds = rig.kinds().await;
    assert_eq!(kinds[21..], vec!["task.held"; 20]);
}
