//! Conversations that a later run can go on with: who had the last one, and where its counters stood.

use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Meter, Reason, Run, RunState};
use fleet_core::task::TaskMove;
use fleet_store::ops::{AppendRunEvents, Conversation, EditTask, LastConversation, Prepared};

use crate::harness::Rig;

story! {
    the_newest_conversation_of_an_agent_is_found
    a_meter_stands_where_it_was_seen_last
}

const METER: Meter = Meter { input: 1 << 40, output: 7, cache_read: 3, cache_write: 2, micro_usd: 12 };

fn hearing(run: &Run, to: i64, session: Option<&str>, meter: Option<Meter>) -> AppendRunEvents {
    AppendRunEvents {
        run: run.id,
        fence: run.fence,
        from: run.decoded,
        to,
        facts: Vec::new(),
        usage: None,
        activity: None,
        session: session.map(ToOwned::to_owned),
        meter,
        now: crate::harness::START,
    }
}

fn last(task: TaskId, agent: &str) -> LastConversation {
    LastConversation { task, agent: agent.parse().unwrap() }
}

async fn the_newest_conversation_of_an_agent_is_found(rig: &Rig) {
    let id = rig.task("one").await;
    let failed = |reason| Ending::Failed(reason, "why".to_owned());
    let first = rig.start(id).await;
    let model = Prepared { model: Some("large".to_owned()), ..Prepared::default() };
    rig.ok(rig.preparing(&first, model)).await;
    rig.ok(hearing(&first, 1, Some("abc"), Some(METER))).await;
    assert_eq!(rig.ok(last(id, "claude")).await, None, "it is still at work");
    rig.end(&first, failed(Reason::Stale)).await;
    let found = Conversation {
        run: first.id,
        session: "abc".to_owned(),
        meter: Some(METER),
        reason: Some(Reason::Stale),
        state: RunState::Failed,
        model: Some("large".to_owned()),
    };
    assert_eq!(rig.ok(last(id, "claude")).await, Some(found.clone()));
    rig.moved(id, TaskMove::Cancel).await;
    rig.moved(id, TaskMove::Retry).await;
    let second = rig.start(id).await;
    rig.end(&second, failed(Reason::WorkspaceFailed)).await;
    assert_eq!(rig.ok(last(id, "claude")).await, Some(found), "the second never had one");
    assert_eq!(rig.ok(last(id, "codex")).await, None);
    let mut edit = EditTask { id, edit: fleet_core::task::TaskEdit::default(), now: rig.now() };
    edit.edit.agent = Some(Some("codex".parse().unwrap()));
    edit.edit.not_before = Some(None);
    rig.ok(edit).await;
    let third = rig.start(id).await;
    rig.ok(hearing(&third, 0, Some("xyz"), None)).await;
    rig.succeed(&third).await;
    let found = rig.ok(last(id, "codex")).await.unwrap();
    assert_eq!((found.run, found.session.as_str(), found.meter), (third.id, "xyz", None));
    assert_eq!((found.state, found.reason, found.model), (RunState::Succeeded, None, None));
    assert_eq!(rig.ok(last(id, "claude")).await.unwrap().session, "abc", "each agent has its own");
    assert_eq!(rig.ok(last(rig.id(), "claude")).await, None);
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
    let most = Meter { input: u64::MAX, ..Meter::default() };
    rig.ok(hearing(&run, 3, None, Some(most))).await;
    assert_eq!(rig.detail(&run).await.run.meter, Some(most));
    assert_eq!(rig.get(id).await.runs[0].meter, Some(most), "whoever reads the run sees it");
}
