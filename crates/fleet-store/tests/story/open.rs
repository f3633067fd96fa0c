//! Opening: many at once, again and again, too new, of somebody else.

use std::sync::Barrier;
use std::time::Duration;

use fleet_core::id::IdMaker;
use fleet_core::project::RepositoryFacts;
use fleet_store::ops::{EnsureProject, ListProjects, NewerSchema};
use fleet_store::{Store, StoreError, StoreUrl};

use crate::harness::{Engine, HERE, Place, Rig, START, checkout};

story! {
    opening_again_changes_nothing
    a_store_of_a_newer_version_is_refused
    a_store_of_another_program_is_refused
    a_store_says_what_it_is
}

async fn opening_again_changes_nothing(rig: &Rig) {
    rig.tasks(3).await;
    let (world, schema) = (rig.place().dump().await, rig.place().schema().await);
    assert!(schema.len() > 10, "{schema:?}");
    for _ in 0..3 {
        let again = rig.elsewhere().await;
        assert_eq!(
            (again.place().dump().await, again.place().schema().await),
            (world.clone(), schema.clone())
        );
    }
}

async fn refusal(url: &StoreUrl) -> StoreError {
    match Store::open(url).await {
        Ok(_) => panic!("the store was opened"),
        Err(error) => error,
    }
}

async fn a_store_of_a_newer_version_is_refused(rig: &Rig) {
    let known = rig.place().version().await;
    rig.place().set_version(known + 7).await;
    let error = refusal(&rig.place().url()).await;
    let StoreError::TooNew { at, found, known: told } = &error else { panic!("{error}") };
    assert_eq!((*found, *told, at), (known + 7, known, &rig.place().url().to_string()));
    let text = error.to_string();
    assert!(
        text.contains(&format!("version {}", known + 7)) && text.contains(&format!("up to {known}")),
        "{text}"
    );
    assert_eq!(rig.ok(NewerSchema).await, Some(known + 7), "whoever has it open can find out");
    rig.place().set_version(known).await;
    assert_eq!(rig.ok(NewerSchema).await, None);
    assert!(Store::open(&rig.place().url()).await.is_ok());
}

async fn a_store_of_another_program_is_refused(rig: &Rig) {
    let versions: &[i64] = if rig.place().engine() == Engine::Sqlite { &[0, 1, 99, -1] } else { &[0] };
    for version in versions {
        let other = Place::make(rig.place().engine());
        if other.engine() == Engine::Sqlite {
            other.occupy(b"");
        }
        other.execute("CREATE TABLE tasks (id BIGINT); INSERT INTO tasks VALUES (7)").await;
        if *version != 0 {
            other.execute(&format!("PRAGMA user_version = {version}")).await;
        }
        let error = refusal(&other.url()).await;
        assert!(
            matches!(&error, StoreError::Corrupt { why, .. } if why.contains("another program")),
            "{error}"
        );
        assert_eq!(other.count("SELECT id FROM tasks WHERE id = 7").await, 7, "it is left alone");
        let tables = other.schema().await;
        assert_eq!(tables.len(), 1, "{tables:?}");
    }
}

async fn a_store_says_what_it_is(rig: &Rig) {
    let text = rig.store.describe().await.unwrap();
    let name = if rig.place().engine() == Engine::Sqlite { "SQLite 3." } else { "PostgreSQL 1" };
    assert!(
        text.starts_with(name) && text.ends_with(&format!("schema {}", rig.place().version().await)),
        "{text}"
    );
}

const MANY: usize = 24;
const STEP: Duration = Duration::from_micros(400);

/// On threads of their own, within the time that it takes to make the schema: each meets another stage of it.
fn open_at_once(engine: Engine) {
    let place = Place::make(engine);
    let (url, barrier) = (place.url(), Barrier::new(MANY));
    let open = |n: usize| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        barrier.wait();
        std::thread::sleep(STEP * u32::try_from(n).unwrap());
        runtime.block_on(async {
            let store = Store::open(&url).await.unwrap_or_else(|error| panic!("opening number {n}: {error}"));
            let now = START;
            let id = IdMaker::default().next(now, u64::try_from(n).unwrap());
            let (checkout, seen) = (checkout(HERE, "/one/.git", "one"), RepositoryFacts::default());
            let ensure = EnsureProject { id, checkout, seen, now };
            let project = store.call(ensure).await.unwrap();
            assert_eq!(
                store.call(ListProjects { place: HERE.to_owned() }).await.unwrap(),
                std::slice::from_ref(&project)
            );
            project.id
        })
    };
    let ids: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..MANY).map(|n| scope.spawn(move || open(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

mod many_open_a_fresh_store_at_once {
    use super::{Engine, open_at_once};

    #[test]
    fn sqlite() {
        for _ in 0..10 {
            open_at_once(Engine::Sqlite);
        }
    }

    #[test]
    fn postgres() {
        open_at_once(Engine::Postgres);
    }
}
