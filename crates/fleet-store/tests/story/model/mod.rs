//! Random stories: after every step the store agrees with a model that has no store, only the pure domain.

mod step;
mod world;

use fleet_core::schedule;
use fleet_store::ops::{Audit, ListReady, ListTasks, StatusFilter, TaskFilter};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::harness::{Engine, Rig};
use step::Step;
use world::World;

/// Tells random stories of up to `steps` steps, each on a fresh store.
fn tell_stories(engine: Engine, cases: u32, steps: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // A story that fails is shown when it is shortest; nothing is written down for the next time.
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let stories = proptest::collection::vec(step::any(), 1..=steps);
    let outcome = TestRunner::new(config).run(&stories, |story| {
        runtime.block_on(tell(engine, &story));
        Ok::<(), TestCaseError>(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

async fn tell(engine: Engine, story: &[Step]) {
    let rig = Rig::open(engine).await;
    let mut world = World::new(rig.project("/repo/.git").await);
    for step in story {
        world.take(&rig, step).await;
        agree(&rig, &world, step).await;
    }
    rig.everything_fits().await;
}

async fn agree(rig: &Rig, world: &World, step: &Step) {
    let ready = rig.ok(ListReady { filter: TaskFilter::default(), limit: 1_000, now: rig.now() }).await;
    let ready: Vec<_> = ready.tasks.iter().map(|task| task.id).collect();
    let expected = schedule::ready(&world.waiting(), &world.edges(), rig.now());
    assert_eq!(ready, expected, "what is ready after {step:?}");
    assert_eq!(rig.ok(Audit).await, Vec::<String>::new(), "after {step:?}");
    let stored: Vec<_> =
        rig.export(None).await.iter().map(|(task, after)| world::shape(task, after)).collect();
    assert_eq!(stored, world.shapes(), "the tasks after {step:?}");
    let (statuses, filter) = (StatusFilter::all(), TaskFilter::default());
    let page = rig.ok(ListTasks { statuses, filter, limit: 1_000, now: rig.now() }).await;
    assert_eq!(page.tasks.len(), stored.len(), "every task has one status after {step:?}");
    assert_eq!(page.obstacles, world.obstacles(), "what stands in the way after {step:?}");
}

mod random_stories_agree_with_the_model {
    use super::{Engine, tell_stories};

    #[test]
    fn sqlite() {
        tell_stories(Engine::Sqlite, 64, 40);
    }

    #[test]
    fn postgres() {
        tell_stories(Engine::Postgres, 6, 40);
    }
}
