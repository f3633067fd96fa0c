//! PostgreSQL: a server that is short of connections, is cut off, or is started again.

use std::time::{Duration, Instant};

use fleet_core::id::IdMaker;
use fleet_core::project::RepositoryFacts;
use fleet_store::StoreError;
use fleet_store::ops::{EnsureProject, ProjectCheckout};
use fleet_testkit::wait_until;

use crate::block_on;
use crate::crew::{Crew, Member};
use crate::evidence::{Evidence, count};
use crate::place::{Place, ask};
use crate::verdict::Verdict;
use crate::worker::{Role, Signal, now};

const BOUND: Duration = Duration::from_mins(1);

/// Sixty processes on twelve connections, and a third of them does nothing with the one that it has.
#[test]
fn heavy_more_processes_than_connections_postgres() {
    let place = Place::own_postgres(12);
    let mut crew = Crew::at(&place);
    for role in [vec![Role::Sit; 20], vec![Role::Add(3); 40]].concat() {
        crew.start(role);
    }
    crew.wait_for(BOUND, "all tasks are added", |role| matches!(role, Role::Add(_)));
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all have ended", |_| true);
    crew.assert_no_complaints();
    let evidence = Evidence::gather(place.folder());
    let verdict = block_on(async { Verdict::of(&place.open().await).await });
    verdict.assert_agrees_with(&evidence);
    assert_eq!(verdict.tasks.len(), 120);
    println!("{}", verdict.summary(&evidence));
}

const ADDERS: usize = 3;
const TASKS_EACH: usize = 250;

const CUT_OFF: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'codefleet'";

#[test]
fn heavy_connections_are_cut_and_the_server_starts_again_postgres() {
    let place = Place::own_postgres(100);
    block_on(async {
        let store = place.open().await;
        let watch = store.watch().await.unwrap();
        let mut crew = Crew::at(&place);
        crew.patient = true;
        crew.lease = Duration::from_secs(2);
        interrupt(&place, &mut crew).await;
        let verdict = Verdict::of(&store).await;
        let evidence = Evidence::gather(place.folder());
        verdict.assert_agrees_with(&evidence);
        verdict.assert_all_done();
        assert_eq!(verdict.tasks.len(), ADDERS * TASKS_EACH, "a task was lost or added twice");
        println!("{}", verdict.summary(&evidence));
        // Rung while nobody could listen: the watch is quiet again once it has found its way back.
        wait_for_listener(&place).await;
        watch.changed(Duration::ZERO).await;
        let begun = Instant::now();
        crew.start(Role::Add(1));
        watch.changed(BOUND * 2).await;
        assert!(begun.elapsed() < BOUND, "the watch did not find its way back");
        crew.wait_for(BOUND, "the last task is added", |_| true);
        crew.assert_no_complaints();
    });
}

/// Cuts everybody off several times, and starts the server again, while there is work.
async fn interrupt(place: &Place, crew: &mut Crew<'_>) {
    let kinds = [Role::Work, Role::Work, Role::Work, Role::Work, Role::Expire, Role::Tail(0), Role::Tail(0)];
    for role in [vec![Role::Add(TASKS_EACH); ADDERS], kinds.to_vec()].concat() {
        crew.start(role);
    }
    let ended = || Evidence::gather(place.folder()).ended.len();
    for round in 0..8 {
        let before = ended();
        wait_until(BOUND, "work goes on", || ended() > before + 20);
        assert!(ended() < ADDERS * TASKS_EACH, "too little work for so many interruptions");
        if round == 3 || round == 6 {
            place.server().restart();
        } else {
            ask(&place.url, CUT_OFF).await;
        }
    }
    crew.wait_for(BOUND, "all tasks are added", |role| matches!(role, Role::Add(_)));
    crew.signal(Signal::AllAdded);
    crew.wait_for(BOUND, "nothing is left to be done", |role| *role == Role::Work);
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all have ended", |_| true);
    crew.assert_no_complaints();
}

async fn wait_for_listener(place: &Place) {
    let begun = Instant::now();
    let listeners = "SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN fleet' AND state = 'idle'";
    while ask(&place.url, listeners).await.is_empty() {
        assert!(begun.elapsed() < BOUND, "nobody listens");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A client that freezes in the middle of a transaction holds its locks only for a while.
#[test]
fn heavy_frozen_in_a_transaction_postgres() {
    let place = Place::postgres().with_option("idle_in_transaction_session_timeout%3D1s");
    let mut crew = Crew::at(&place);
    crew.patient = true;
    for _ in 0..4 {
        crew.start(Role::Churn);
    }
    let notes = |crew: &Crew<'_>| -> Vec<usize> {
        crew.members.iter().map(|member| count(place.folder(), &member.name)).collect()
    };
    wait_until(BOUND, "everybody works", || notes(&crew).iter().all(|lines| *lines > 5));
    for _ in 0..3 {
        let frozen = catch(&crew, &place);
        let before = notes(&crew);
        wait_until(BOUND, "the others go on", || {
            let now = notes(&crew);
            (0..4).filter(|member| *member != frozen).all(|member| now[member] > before[member] + 20)
        });
        wait_until(BOUND, "the server gives the frozen one up", || !in_transaction(&place));
        crew.members[frozen].thaw();
        wait_until(BOUND, "the frozen one goes on", || notes(&crew)[frozen] > before[frozen] + 5);
    }
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all have ended", |_| true);
    crew.assert_no_complaints();
    let evidence = Evidence::gather(place.folder());
    let verdict = block_on(async { Verdict::of(&place.open().await).await });
    verdict.assert_agrees_with(&evidence);
    println!("{}", verdict.summary(&evidence));
}

/// Freezes one after the other until one is caught in the middle of a transaction; returns which.
fn catch(crew: &Crew<'_>, place: &Place) -> usize {
    for attempt in 0..1_000 {
        let member: &Member = &crew.members[attempt % crew.members.len()];
        member.freeze();
        if in_transaction(place) {
            return attempt % crew.members.len();
        }
        member.thaw();
    }
    panic!("nobody was caught in the middle of a transaction");
}

/// Whether somebody has been sitting in a transaction for longer than anybody does who is awake.
fn in_transaction(place: &Place) -> bool {
    let sitting = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'codefleet' AND datname = current_database() \
                   AND state = 'idle in transaction' AND state_change < now() - interval '100 ms'";
    let look = || !block_on(ask(&place.url, sitting)).is_empty();
    (0..3).any(|_| {
        look() || {
            std::thread::sleep(Duration::from_millis(60));
            look()
        }
    })
}

/// Whoever waits for a lock for too long is told that the store is busy.
#[test]
fn a_lock_that_is_never_freed_is_not_waited_for_for_ever_postgres() {
    let place = Place::postgres().with_option("lock_timeout%3D1s");
    block_on(async {
        let store = place.open().await;
        let project = EnsureProject {
            id: IdMaker::default().next(now(), 1),
            checkout: ProjectCheckout {
                place: "here".to_owned(),
                common_dir: "/the/repository".to_owned(),
                name: "the repository".to_owned(),
            },
            seen: RepositoryFacts::default(),
            now: now(),
        };
        let config: tokio_postgres::Config = place.url.parse().unwrap();
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute("BEGIN; LOCK TABLE projects").await.unwrap();
        let refused = store.call(project.clone()).await;
        assert!(matches!(refused, Err(StoreError::Busy { .. })), "{refused:?}");
        drop(client);
        connection.await.unwrap().unwrap();
        store.call(project).await.unwrap();
    });
}
