//! Events of agents, in batches as keepers store them.

use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::schedule::Caps;
use fleet_core::time::Millis;
use fleet_store::{StoreUrl, ops};

use crate::report::{Goal, Row};
use crate::timing::millis;
use crate::{Setting, seed};

const BATCHES: usize = 200;
const BATCH: usize = 250;

pub(crate) fn run(_: &Setting) -> Vec<Row> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("fleet.db");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (store, project) =
        runtime.block_on(seed::with_project(&StoreUrl::Sqlite(path.clone()), "/bench/.git"));
    seed::fill_sqlite(&path, project, 1);
    let claim = ops::Claim {
        runner: "bench".to_owned(),
        place: "bench".to_owned(),
        runs: vec!["r0skybd1301hta6".parse().expect("an id")],
        default_agent: "demo".parse().expect("a name"),
        able: None,
        caps: Caps::default(),
        lease: Duration::from_hours(1),
        now: Millis(1),
    };
    let claimed = runtime.block_on(store.call(claim)).expect("a claim").remove(0);
    let took = millis(|| {
        for batch in 0..BATCHES {
            let facts = (0..BATCH).map(|number| {
                (
                    Millis(2),
                    Fact::RunSaid { text: format!("line {number} of batch {batch}: what an agent says") },
                )
            });
            let append = ops::AppendRunEvents {
                run: claimed.run.id,
                fence: claimed.run.fence,
                from: i64::try_from(batch).expect("few"),
                to: i64::try_from(batch + 1).expect("few"),
                facts: facts.collect(),
                usage: None,
                activity: None,
                session: None,
            };
            runtime.block_on(store.call(append)).expect("stored");
        }
    });
    let per_second = (BATCHES * BATCH) as f64 / took * 1_000.0;
    vec![Row::new(
        "events of agents stored, SQLite, in batches of 250",
        (per_second, "events/s"),
        (20_000.0, "events/s (fixed bound)"),
        Goal::AtLeast(1.0),
    )]
}
