//! A store of an older version: brought up to date with everything that is in it.

use std::time::Duration;

use fleet_core::budget::{Bounds, Spent, Used};
use fleet_core::id::{ProjectId, RunId, TaskId};
use fleet_core::message::{Channel, MessageKind, MessageState};
use fleet_core::run::RunState;
use fleet_core::task::{TaskMove, TaskState};
use fleet_core::time::Millis;
use fleet_store::Store;
use fleet_store::ops::{
    Audit, GetRun, GetTask, ListPauses, LiveRuns, MoveTask, Spending, TakeMessages, TaskMessages,
};

use crate::harness::{Engine, Place, Rig};

story! {
    a_store_of_the_first_version_keeps_what_it_has
    prompts_of_the_version_before_become_messages
}

/// The first schema, as it was released.
const FIRST: &str = include_str!("../../migrations/0001_queue.sql");

/// Where prompts came from.
const FOLLOW_UPS: &str = include_str!("../../migrations/0003_conversations.sql");

/// Its one table that differs between the engines, as it was then.
const EVENTS: &str = "project TEXT, task TEXT, run TEXT, kind TEXT NOT NULL, data TEXT NOT NULL)";

async fn make_first(place: &Place) {
    let (rowid, events) = match place.engine() {
        Engine::Sqlite => {
            place.occupy(b"");
            ("WITHOUT ROWID", "seq INTEGER PRIMARY KEY AUTOINCREMENT, at BIGINT NOT NULL")
        }
        Engine::Postgres => {
            place.execute("CREATE TABLE fleet_schema (version BIGINT PRIMARY KEY)").await;
            ("", "id BIGINT GENERATED ALWAYS AS IDENTITY, seq BIGINT, at BIGINT NOT NULL")
        }
    };
    let events = format!("CREATE TABLE events ({events}, {EVENTS};");
    let schema = FIRST.replace("{without_rowid}", rowid).replace("{events}", &events);
    place.execute(&schema).await;
    if place.engine() == Engine::Sqlite {
        place.execute("PRAGMA application_id = 1718379877").await;
    }
    place.set_version(1).await;
}

struct Old {
    waiting: TaskId,
    running: TaskId,
    ended: RunId,
    live: RunId,
    until: Millis,
}

/// A task that failed once and waits, one that runs, and an agent that is paused.
async fn fill(rig: &Rig, place: &Place) -> Old {
    let (project, now): (ProjectId, i64) = (rig.id(), rig.now().0);
    let old = Old {
        waiting: rig.id(),
        running: rig.id(),
        ended: rig.id(),
        live: rig.id(),
        until: rig.now().plus(Duration::from_hours(1)),
    };
    place.execute(&format!("INSERT INTO projects VALUES ('{project}', '/repo/.git', 'repo', {now})")).await;
    for (task, state, failures) in [(old.waiting, "queued", 1), (old.running, "running", 0)] {
        place
            .execute(&format!(
                "INSERT INTO tasks (id, project, state, priority, agent, open_deps, deferred, version, fence, failures, \
                 title, labels, scope, limits, retry, meta, created_at, updated_at) VALUES ('{task}', '{project}', \
                 '{state}', 3, 'codex', 0, 0, 1, 1, {failures}, 'old', '[]', '[]', '{{}}', \
                 '{{\"retries\":2,\"backoff_seconds\":10}}', '{{}}', {now}, {now})"
            ))
            .await;
    }
    let yesterday = now - 86_400_000;
    for (run, task, state, ended, used) in [
        (old.ended, old.waiting, "failed", yesterday.to_string(), "30, 12, 500"),
        (old.live, old.running, "running", "NULL".to_owned(), "1, 1, 7"),
    ] {
        place
            .execute(&format!(
                "INSERT INTO runs (id, task, project, fence, state, runner, place, agent, lease_until, created_at, \
                 ended_at, input_tokens, output_tokens, micro_usd) VALUES ('{run}', '{task}', '{project}', 1, '{state}', \
                 'runner', 'here', 'codex', {now}, {now}, {ended}, {used})"
            ))
            .await;
    }
    let until = old.until.0;
    place
        .execute(&format!("INSERT INTO pauses (agent, until, why) VALUES ('codex', {until}, 'limit')"))
        .await;
    old
}

async fn a_store_of_the_first_version_keeps_what_it_has(rig: &Rig) {
    let place = Place::make(rig.place().engine());
    make_first(&place).await;
    let old = fill(rig, &place).await;
    let store = Store::open(&place.url()).await.unwrap();
    assert_eq!(place.version().await, rig.place().version().await);

    let used = |micro_usd, tokens| Used { micro_usd, tokens };
    let spent = Spent { day: used(7, 2), total: used(507, 44), reserved: used(0, 0) };
    assert_eq!(store.call(Spending { now: rig.now() }).await.unwrap(), spent);
    let pauses = store.call(ListPauses { now: rig.now() }).await.unwrap();
    let pause = &pauses[0];
    assert_eq!(
        (pause.account.as_str(), pause.agent.as_deref(), pause.until),
        ("codex", Some("codex"), old.until)
    );
    assert_eq!((pause.strikes, pause.run, pause.set_at), (0, None, Millis(0)));

    let detail = store.call(GetTask { id: old.waiting }).await.unwrap();
    let history = &detail.task.history;
    assert_eq!((history.failures, history.waits, &history.handed_to), (1, 0, &None));
    assert_eq!((detail.runs[0].id, detail.runs[0].usage.micro_usd), (old.ended, 500));
    let run = store.call(GetRun { run: old.live }).await.unwrap().run;
    assert_eq!((run.state, run.account(), run.reserved), (RunState::Running, "codex", Bounds::default()));
    assert_eq!(store.call(LiveRuns { place: "here".to_owned() }).await.unwrap(), [run]);
    assert_eq!(store.call(Audit).await.unwrap(), Vec::<String>::new());
    let cancel = MoveTask { id: old.running, event: TaskMove::Cancel, remark: None, now: rig.now() };
    assert_eq!(store.call(cancel).await.unwrap().state(), TaskState::Cancelled);
}

/// The schema of the version before, made from the present one.
async fn make_seventh(rig: &Rig) {
    let prompts = FOLLOW_UPS.split_once("CREATE TABLE prompts").unwrap().1;
    let undo = format!("DROP VIEW prompts; DROP TABLE messages; CREATE TABLE prompts{prompts}");
    rig.place().execute(&undo).await;
    rig.place().set_version(7).await;
}

async fn prompts_of_the_version_before_become_messages(rig: &Rig) {
    let id = rig.task("one").await;
    let (old, now) = (rig.start(id).await, rig.now().0);
    make_seventh(rig).await;
    for (seq, run, sent) in [
        (1, format!("'{}'", old.id), "5"),
        (2, format!("'{}'", old.id), "NULL"),
        (3, "NULL".to_owned(), "NULL"),
    ] {
        let values = format!("'{id}', {seq}, 1, 'say {seq}', 'ada', {now}, {run}, {sent}");
        rig.place().execute(&format!("INSERT INTO prompts VALUES ({values})")).await;
    }
    let newer = rig.elsewhere().await;
    let kept = newer.ok(TaskMessages { task: id, limit: 9 }).await;
    let found: Vec<_> = kept.iter().map(|it| (it.id.seq, it.text.as_str(), it.receipts.state())).collect();
    let (seen, waiting) = (MessageState::Seen, MessageState::Waiting);
    assert_eq!(found, [(1, "say 1", seen), (2, "say 2", waiting), (3, "say 3", waiting)]);
    assert_eq!((kept[0].kind, kept[0].from.as_str()), (MessageKind::Prompt, "ada"));
    assert_eq!((kept[0].receipts.delivered, kept[0].receipts.stored), (Some(Millis(5)), rig.now()));
    assert_eq!((kept[1].taken_by, kept[2].taken_by), (Some(old.id), None));
    // A keeper of the version before goes on: it counts what waits whenever it renews.
    let counted = "SELECT count(*) FROM prompts p WHERE p.sent_at IS NULL AND p.taken_by IS NULL";
    assert_eq!(rig.place().count(counted).await, 1);
    let take = TakeMessages { run: old.id, fence: 1, channel: Channel::Input, after: 0, now: rig.now() };
    assert_eq!(newer.ok(take).await.len(), 2, "whoever takes over delivers them");
}
