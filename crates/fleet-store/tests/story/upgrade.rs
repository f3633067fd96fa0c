//! A store of an older version: brought up to date with everything that is in it.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_core::budget::{Bounds, Spent, Used};
use fleet_core::id::{BatchId, ProjectId, RunId, TaskId};
use fleet_core::limits::Limits;
use fleet_core::message::{Channel, MessageKind, MessageState};
use fleet_core::policy::RetryPolicy;
use fleet_core::run::RunState;
use fleet_core::scope::FileScope;
use fleet_core::task::{Complexity, Label, Setup, TaskMove, TaskSpec, TaskState, Tuning};
use fleet_core::time::Millis;
use fleet_store::Store;
use fleet_store::ops::{
    Audit, GetRun, GetTask, ListPauses, LiveRuns, MoveTask, Spending, TakeMessages, TaskMessages,
};

use crate::harness::{Engine, Place, Rig};

story! {
    stores_of_all_versions_become_the_same
    a_store_of_the_first_version_keeps_what_it_has
    prompts_of_the_version_before_become_messages
    what_authors_decided_becomes_one_value
}

/// The steps of the schema, as they were released.
const STEPS: [&str; 8] = [
    include_str!("../../migrations/0001_queue.sql"),
    include_str!("../../migrations/0002_accounts.sql"),
    include_str!("../../migrations/0003_conversations.sql"),
    include_str!("../../migrations/0004_spawn.sql"),
    include_str!("../../migrations/0005_workflows.sql"),
    include_str!("../../migrations/0006_event_batches.sql"),
    include_str!("../../migrations/0007_checkouts.sql"),
    include_str!("../../migrations/0008_messages.sql"),
];

/// An empty store of this version.
async fn store_of_version(engine: Engine, version: usize) -> Place {
    let place = Place::make(engine);
    let (rowid, events) = match place.engine() {
        Engine::Sqlite => {
            place.occupy(b"");
            ("WITHOUT ROWID", include_str!("../../migrations/0001_events.sqlite.sql"))
        }
        Engine::Postgres => {
            place.execute("CREATE TABLE fleet_schema (version BIGINT PRIMARY KEY)").await;
            ("", include_str!("../../migrations/0001_events.postgres.sql"))
        }
    };
    for step in &STEPS[..version] {
        place.execute(&step.replace("{without_rowid}", rowid).replace("{events}", events)).await;
    }
    if place.engine() == Engine::Sqlite {
        place.execute("PRAGMA application_id = 1718379877").await;
    }
    place.set_version(i64::try_from(version).unwrap()).await;
    place
}

struct Old {
    waiting: TaskId,
    running: TaskId,
    ended: RunId,
    live: RunId,
    until: Millis,
}

/// A task that failed once and waits, and one that runs.
async fn fill(rig: &Rig, place: &Place) -> Old {
    let (project, now): (ProjectId, i64) = (rig.id(), rig.now().0);
    let old = Old {
        waiting: rig.id(),
        running: rig.id(),
        ended: rig.id(),
        live: rig.id(),
        until: rig.now().plus(Duration::from_hours(1)),
    };
    place.execute(&format!("INSERT INTO projects (id, common_dir, name, created_at) VALUES ('{project}', '/repo/.git', 'repo', {now})")).await;
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
    old
}

async fn stores_of_all_versions_become_the_same(rig: &Rig) {
    let known = (rig.place().version().await, rig.place().schema().await);
    for version in 1..=STEPS.len() {
        let place = store_of_version(rig.place().engine(), version).await;
        let old = fill(rig, &place).await;
        let store = Store::open(&place.url()).await.unwrap();
        assert_eq!((place.version().await, place.schema().await), known, "{version}");
        let run = store.call(GetRun { run: old.live }).await.unwrap();
        assert_eq!((run.run.state(), run.task.unwrap().spec.title.as_str()), (RunState::Running, "old"));
        assert_eq!(store.call(rig.renewing(&run.run)).await.unwrap().messages, 0);
        assert_eq!(store.call(Audit).await.unwrap(), Vec::<String>::new());
    }
}

async fn a_store_of_the_first_version_keeps_what_it_has(rig: &Rig) {
    let place = store_of_version(rig.place().engine(), 1).await;
    let old = fill(rig, &place).await;
    let until = old.until.0;
    place
        .execute(&format!("INSERT INTO pauses (agent, until, why) VALUES ('codex', {until}, 'limit')"))
        .await;
    let store = Store::open(&place.url()).await.unwrap();

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
    assert_eq!((run.state(), run.account(), run.reserved), (RunState::Running, "codex", Bounds::default()));
    assert_eq!(store.call(LiveRuns { place: "here".to_owned() }).await.unwrap(), [run]);
    assert_eq!(store.call(Audit).await.unwrap(), Vec::<String>::new());
    let cancel = MoveTask { id: old.running, event: TaskMove::Cancel, remark: None, now: rig.now() };
    assert_eq!(store.call(cancel).await.unwrap().state(), TaskState::Cancelled);
}

async fn prompts_of_the_version_before_become_messages(rig: &Rig) {
    let place = store_of_version(rig.place().engine(), 7).await;
    let (old, now) = (fill(rig, &place).await, rig.now().0);
    let (id, run) = (old.running, old.live);
    for (seq, run, sent) in
        [(1, format!("'{run}'"), "5"), (2, format!("'{run}'"), "NULL"), (3, "NULL".to_owned(), "NULL")]
    {
        let values = format!("'{id}', {seq}, 1, 'say {seq}', 'ada', {now}, {run}, {sent}");
        place.execute(&format!("INSERT INTO prompts VALUES ({values})")).await;
    }
    let store = Store::open(&place.url()).await.unwrap();
    let kept = store.call(TaskMessages { task: id, limit: 9 }).await.unwrap();
    let found: Vec<_> = kept.iter().map(|it| (it.id.seq, it.text.as_str(), it.receipts.state())).collect();
    let (seen, waiting) = (MessageState::Seen, MessageState::Waiting);
    assert_eq!(found, [(1, "say 1", seen), (2, "say 2", waiting), (3, "say 3", waiting)]);
    assert_eq!((kept[0].kind, kept[0].from.as_str()), (MessageKind::Prompt, "ada"));
    assert_eq!((kept[0].receipts.delivered, kept[0].receipts.stored), (Some(Millis(5)), rig.now()));
    assert_eq!((kept[1].taken_by, kept[2].taken_by), (Some(run), None));
    let take = TakeMessages { run, attempt: 1, channel: Channel::Input, after: 0, now: rig.now() };
    assert_eq!(store.call(take).await.unwrap().len(), 2, "whoever takes over delivers them");
}

/// What the version before 0009 read of a task, in its words.
const READ_BY_EIGHT: &str = "SELECT count(*) FROM (SELECT t.id, t.project, t.state, t.priority, t.agent, t.open_deps, t.not_before, t.retry_at, \
     t.version, t.fence, t.failures, t.reason, t.remark, t.title, t.labels, t.scope, t.complexity, t.model, t.base, \
     t.branch, t.limits, t.retry, t.meta, t.batch, t.read_only, t.created_at, t.updated_at, t.waits, t.asked_agent, \
     t.parent, t.depth, t.spawn_depth, t.may_be_empty, t.workflow, t.part FROM tasks t WHERE";

async fn what_authors_decided_becomes_one_value(rig: &Rig) {
    let place = store_of_version(rig.place().engine(), 8).await;
    let (old, now) = (fill(rig, &place).await, rig.now().0);
    let (id, batch): (TaskId, BatchId) = (rig.id(), rig.id());
    let meta = serde_json::json!({
        "fleet.effort": "high", "fleet.args": "[\"-v\",\"a b\"]", "setup": "skip", "fleet.profile": "deep",
        "fleet.parent": old.waiting, "fleet.project_agent": "codex", "ticket": "it\"s 7",
    });
    place
        .execute(&format!(
            "INSERT INTO tasks (id, project, state, priority, agent, asked_agent, open_deps, deferred, not_before, due, \
             version, fence, failures, title, labels, scope, scoped, complexity, model, base, branch, limits, retry, meta, \
             batch, read_only, may_be_empty, created_at, updated_at) SELECT '{id}', project, 'queued', 5, 'codex', \
             'claude', 0, 0, {now}, {now}, 7, 0, 0, 'rich', '[\"a\",\"b\"]', '[\"src/**\"]', 1, 'xl', 'opus', 'main~2', \
             'fix/it', '{{\"tokens\":9}}', '{{\"retries\":3,\"backoff_seconds\":4}}', '{meta}', '{batch}', 1, 1, {now}, \
             {now} FROM tasks WHERE id = '{}'",
            old.waiting
        ))
        .await;
    // The agent that the project chose has handed it over. Tasks of that version could have NUL characters.
    let odd = serde_json::json!({
        "setup": "later", "fleet.parent": "nobody", "fleet.args": " [ ]", "fleet.project_agent": "claude",
        "nul": "\\\0\0.",
    });
    place
        .execute(&format!(
            "UPDATE tasks SET meta = '{odd}', asked_agent = 'claude' WHERE id = '{}'",
            old.waiting
        ))
        .await;
    let store = Store::open(&place.url()).await.unwrap();
    let task = store.call(GetTask { id }).await.unwrap().task;
    let expected = TaskSpec {
        priority: 5.try_into().unwrap(),
        labels: ["a", "b"]
            .map(|label| label.parse::<Label>().unwrap())
            .into_iter()
            .collect::<BTreeSet<_>>()
            .try_into()
            .unwrap(),
        scope: FileScope::parse(["src/**"]).unwrap(),
        complexity: Some(Complexity::Xl),
        agent: Some("claude".parse().unwrap()),
        model: Some("opus".parse().unwrap()),
        base: Some("main~2".parse().unwrap()),
        branch: Some("fix/it".parse().unwrap()),
        limits: Limits { tokens: Some(9), ..Limits::default() },
        retry: RetryPolicy { retries: 3, backoff_seconds: 4, ..RetryPolicy::default() },
        not_before: Some(rig.now()),
        meta: [("ticket".parse().unwrap(), "it\"s 7".parse().unwrap())].into(),
        batch: Some(batch),
        read_only: true,
        may_be_empty: true,
        tuning: Tuning { effort: Some("high".to_owned()), args: vec!["-v".to_owned(), "a b".to_owned()] },
        setup: Setup::Skip,
        profile: Some("deep".parse().unwrap()),
        on_behalf_of: Some(old.waiting),
        project_agent: Some("codex".parse().unwrap()),
        ..TaskSpec::new("rich".parse().unwrap())
    };
    assert_eq!(
        (task.spec, task.history.handed_to, task.version),
        (expected, Some("codex".parse().unwrap()), 7)
    );
    let waiting = store.call(GetTask { id: old.waiting }).await.unwrap().task.spec;
    assert_eq!((waiting.setup, waiting.on_behalf_of, waiting.meta.len()), (Setup::Full, None, 2));
    assert_eq!((&waiting.project_agent, waiting.tuning), (&waiting.agent, Tuning::default()));
    let nul = waiting.meta.values().find(|value| value.as_str() != "later").unwrap().as_str();
    assert_eq!(nul, "\\.");
    assert_eq!(store.call(Audit).await.unwrap(), Vec::<String>::new());
    // A keeper of the version before reads its task as ever, and moves it; it cannot add another one.
    let same =
        format!("t.id = '{id}' AND t.meta = '{meta}' AND t.title = 'rich' AND t.read_only = 1) AS old");
    assert_eq!(place.count(&format!("{READ_BY_EIGHT} {same}")).await, 1);
    let named = match place.engine() {
        Engine::Sqlite => {
            "SELECT count(*) FROM pragma_table_info('tasks') WHERE name IN ('scoped', 'has_scope')"
        }
        Engine::Postgres => {
            "SELECT count(*) FROM information_schema.columns WHERE table_name = 'tasks' \
             AND column_name IN ('scoped', 'has_scope')"
        }
    };
    assert_eq!(place.count(named).await, 1, "its statements name `scoped`");
    place.execute(&format!("UPDATE tasks SET has_scope = 1 WHERE id = '{id}'")).await;
}
