//! Adding tasks that wait for each other.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::id::TaskId;
use fleet_core::policy::RetryPolicy;
use fleet_core::project::RepositoryFacts;
use fleet_core::task::{Label, Labels, Priority, TaskSpec, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{AddTasks, Author, EnsureProject, NewTask, ProjectCheckout};

use super::{Worker, now};

/// The label by which the tasks of a worker are found.
pub(crate) fn label(name: &str) -> Label {
    format!("by:{name}").parse().unwrap()
}

pub(super) async fn add(worker: &mut Worker, tasks: usize) -> Result<(), StoreError> {
    let mut earlier = Vec::new();
    while earlier.len() < tasks {
        let size = (1 + worker.dice.below(4)).min(tasks - earlier.len());
        add_batch(worker, size, &mut earlier).await?;
    }
    Ok(())
}

/// One transaction. Tasks wait for some of `earlier`, to which they are added.
pub(super) async fn add_batch(
    worker: &mut Worker,
    size: usize,
    earlier: &mut Vec<TaskId>,
) -> Result<(), StoreError> {
    let project = EnsureProject {
        id: worker.id(),
        checkout: ProjectCheckout {
            place: "here".to_owned(),
            common_dir: "/the/repository".to_owned(),
            name: "the repository".to_owned(),
        },
        seen: RepositoryFacts::default(),
        now: now(),
    };
    let project = worker.call(project).await?.id;
    let mut batch = Vec::new();
    for _ in 0..size {
        let after = (0..worker.dice.below(3)).filter_map(|_| pick(worker, earlier)).collect::<BTreeSet<_>>();
        let (id, spec) = (worker.id(), spec(worker));
        let after = after.into_iter().collect();
        batch.push(NewTask { id, project, spec, after, state: TaskState::Queued });
        earlier.push(id);
    }
    let author = Author::Person { spawn_depth: 2 };
    let ids: Vec<TaskId> = batch.iter().map(|new| new.id).collect();
    match worker.call(AddTasks { tasks: batch, author, now: now() }).await {
        Ok(_) => {}
        // An attempt whose answer was lost in an interruption had worked after all.
        Err(StoreError::TaskExists(_)) if worker.orders.patient => {}
        Err(error) => return Err(error),
    }
    for id in ids {
        worker.notes.write(format_args!("added {id}"));
    }
    Ok(())
}

fn pick(worker: &mut Worker, earlier: &[TaskId]) -> Option<TaskId> {
    earlier.get(worker.dice.below(earlier.len())).copied()
}

fn spec(worker: &mut Worker) -> TaskSpec {
    let mut spec = TaskSpec::new("Something to be done".parse().unwrap());
    spec.priority = Priority::try_from(1 + i64::try_from(worker.dice.below(5)).unwrap()).unwrap();
    spec.labels = Labels::try_from(BTreeSet::from([label(&worker.orders.name)])).unwrap();
    spec.description = "Line after line.\n".repeat(worker.dice.below(60)).parse().unwrap();
    spec.retry = RetryPolicy {
        retries: RetryPolicy::MAX_RETRIES,
        backoff_seconds: 0,
        check_retries: RetryPolicy::MAX_RETRIES,
    };
    if worker.dice.once_in(8) {
        spec.not_before = Some(now().plus(Duration::from_millis(30)));
    }
    spec
}
