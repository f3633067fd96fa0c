//! Conversations that a later run can go on with: what the agent calls them, and where their counters stood.

use fleet_core::event::Tokens;
use fleet_core::run::{Meter, Run};
use fleet_store::ops::AppendRunEvents;

use crate::harness::Rig;

story! {
    a_conversation_is_kept_with_its_run
    a_meter_stands_where_it_was_seen_last
}

const METER: Meter =
    Meter { tokens: Tokens { input: 1 << 40, output: 7, cache_read: 3, cache_write: 2 }, micro_usd: 12 };

fn hearing(run: &Run, to: i64, session: Option<&str>, meter: Option<Meter>) -> AppendRunEvents {
    AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from: run.decoded,
        to,
        batch: run.batches + 1,
        facts: Vec::new(),
        usage: None,
        activity: None,
        session: session.map(ToOwned::to_owned),
        meter,
        now: crate::harness::START,
    }
}

async fn a_conversation_is_kept_with_its_run(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    assert_eq!(run.session, None);
    rig.ok(hearing(&run, 1, Some("abc"), None)).await;
    let run = rig.detail(&run).await.run;
    rig.ok(hearing(&run, 2, None, None)).await;
    rig.succeed(&run).await;
    let kept = &rig.get(id).await.runs[0];
    assert_eq!((kept.session.as_deref(), kept.meter), (Some("abc"), None), "nothing new was said of it");
}

async fn a_meter_stands_where_it_was_seen_last(rig: &Rig) {
    let id = rig.task("one").await;
    let run = rig.start(id).await;
    assert_eq!(run.meter, None);
    rig.ok(hearing(&run, 1, None, Some(METER))).await;
    let run = rig.detail(&run).await.run;
    assert_eq!(run.meter, Some(METER));
    rig.ok(hearing(&run, 2, None, None)).await;
    let run = rig.detail(&run).await.run;
    assert_eq!((run.meter, run.decoded), (Some(METER), 2), "nothing new was said of it");
    let most = Meter { micro_usd: u64::MAX, ..Meter::default() };
    rig.ok(hearing(&run, 3, None, Some(most))).await;
    assert_eq!(rig.detail(&run).await.run.meter, Some(most));
    assert_eq!(rig.get(id).await.runs[0].meter, Some(most), "whoever reads the run sees it");
}
