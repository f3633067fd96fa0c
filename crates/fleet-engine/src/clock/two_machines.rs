//! Two machines whose clocks are ten minutes apart, on one server.

use std::path::Path;
use std::time::Duration;

use fleet_api::TaskFields;
use fleet_core::task::AgentName;
use fleet_store::ops;
use fleet_testkit::postgres::Database;
use fleet_testkit::repo::Repo;

use super::*;
use crate::environment::Environment;
use crate::verbs::{agents_pause, task_add};
use crate::{Engine, EngineStart};

const MINUTES: Duration = Duration::from_mins(10);
/// Between two looks at a clock in a test, on a busy machine.
const SLACK: u64 = 60_000;

/// A machine whose clock is ahead by this many seconds; the one of this process, from now on.
fn machine(database: &Database, home: &Path, repo: &Repo, skew: i64) -> Engine {
    shared::skew(skew);
    let variables = [("FLEET_HOME", home.to_str().unwrap()), ("FLEET_STORE", database.url())];
    let environment = Environment::from_pairs(variables);
    Engine::new(EngineStart { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() })
        .unwrap()
}

fn claim(engine: &Engine, place: &str) -> ops::Claim {
    ops::Claim {
        runner: place.to_owned(),
        place: place.to_owned(),
        runs: vec![engine.new_id().unwrap()],
        only: ops::ClaimOnly::Any,
        default_agent: "demo".parse::<AgentName>().unwrap(),
        able: None,
        projects: None,
        accounts: std::collections::BTreeMap::default(),
        caps: fleet_core::schedule::Caps::default(),
        budget: None,
        lease: Duration::from_secs(30),
        now: engine.now(),
    }
}

async fn add(engine: &Engine, title: &str, not_before: Option<&str>) {
    let request = fleet_api::verbs::task_add::Request {
        title: title.to_owned(),
        fields: TaskFields { not_before: not_before.map(ToOwned::to_owned), ..Default::default() },
        ..Default::default()
    };
    task_add::run(engine, request).await.unwrap();
}

#[test]
fn machines_whose_clocks_are_wrong_go_by_the_one_of_the_server() {
    let (database, repo) = (fleet_testkit::postgres::database(), Repo::init());
    repo.commit("one");
    let homes = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let right = machine(&database, homes[0].path(), &repo, 0);
        let begun = right.time().await.unwrap();
        add(&right, "at work", None).await;
        let run = right.call(claim(&right, "here")).await.unwrap().remove(0).run;
        add(&right, "in five minutes", Some("5m")).await;
        let seconds = MINUTES.as_secs() / 2;
        let pause =
            fleet_api::verbs::agents_pause::Request { agent: "codex".into(), seconds, why: "a test".into() };
        agents_pause::run(&right, pause).await.unwrap();

        for (home, skew) in homes[1..].iter().zip([600, -600]) {
            let wrong = machine(&database, home.path(), &repo, skew);
            let now = wrong.time().await.unwrap();
            assert!(now.0.abs_diff(begun.0) < SLACK, "{skew}: {now:?} instead of {begun:?}");
            assert!(machine_now().0.abs_diff(begun.0) > SLACK, "the clock of this machine is not wrong");
            let ready = ops::ListReady { filter: ops::TaskFilter::default(), limit: 9, now };
            assert!(wrong.call(ready).await.unwrap().tasks.is_empty(), "{skew}: started early");
            let pauses = wrong.call(ops::ListPauses { now }).await.unwrap();
            assert!(!pauses.is_empty(), "{skew}: woken early");
            let expire = ops::ExpireLeases {
                elsewhere: Some(ops::OtherPlaces { here: "there".to_owned(), grace: MINUTES / 2 }),
                limit: 9,
                after: ops::FailureSettings::default(),
                jitter: 1,
                now,
            };
            assert!(wrong.call(expire).await.unwrap().is_empty(), "{skew}: the lease was stolen");
            let renew =
                ops::RenewLease { run: run.id, attempt: run.attempt, lease: Duration::from_secs(30), now };
            wrong.call(renew).await.unwrap();
            let lease = wrong.call(ops::GetRun { run: run.id }).await.unwrap().run.lease_until;
            assert!(lease.0.abs_diff(begun.0) < SLACK + 30_000, "{skew}: {lease:?}");
            add(&wrong, "in five minutes", Some("5m")).await;
        }
        let soon = right.time().await.unwrap().plus(MINUTES);
        let ready = ops::ListReady { filter: ops::TaskFilter::default(), limit: 9, now: soon };
        assert_eq!(right.call(ready).await.unwrap().tasks.len(), 3, "scheduled by one clock");
    });
}
