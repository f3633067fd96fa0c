//! How the engines run the statements of a claim: along indexes, however many tasks there are.
//!
//! Looks at plans that were made without knowing the parameters: PostgreSQL keeps those for statements that come again.

#![expect(clippy::disallowed_methods, reason = "asks both engines from outside how they would do it")]

use std::fmt::Write as _;

use tokio_postgres::NoTls;

use super::at_once::{MANY_KNOWING, ONE_KNOWING};
use super::lanes::{HEADS_POSTGRES, HEADS_SQLITE};
use super::look::FIRST_INTERACTIVE;
use super::{HEAD, HEAD_HEADLESS, HEAD_INTERACTIVE, LANES};
use crate::dialect::Dialect;
use crate::ops::upcoming::{DEFERRED, READY};
use crate::{Store, StoreUrl, migrate};

/// Without statistics, as in a store that was never analysed.
#[test]
fn sqlite_walks_along_indexes_and_never_sorts() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    for migration in migrate::after(0) {
        connection.execute_batch(&Dialect::Sqlite.adapt(migration.sql)).unwrap();
    }
    for text in [LANES, HEADS_SQLITE, HEAD, HEAD_HEADLESS, HEAD_INTERACTIVE, FIRST_INTERACTIVE] {
        let text = Dialect::Sqlite.adapt(text);
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
        for number in 1..=explain.parameter_count() {
            explain.raw_bind_parameter(number, "[]").unwrap();
        }
        let (mut plan, mut rows) = (Vec::new(), explain.raw_query());
        while let Some(row) = rows.next().unwrap() {
            plan.push(row.get::<_, String>(3).unwrap());
        }
        let is_bounded = |step: &str| step.contains("tasks_by_lane") || step.contains("tasks_interactive");
        let is_full = |step: &&String| step.starts_with("SCAN t") && !is_bounded(step);
        assert_eq!(plan.iter().find(is_full), None, "{text}\n{plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{text}\n{plan:#?}");
    }
}

const FILL: &str = "
    INSERT INTO projects (id, common_dir, name, created_at) SELECT 'p' || n, '/r' || n, 'r' || n, 0 FROM generate_series(0, 9) n;
    INSERT INTO tasks (id, project, state, priority, agent, open_deps, deferred, version, fence, failures, title,
        scope, limits, created_at, updated_at)
      SELECT 't' || lpad(n::text, 9, '0'), 'p' || n % 10, CASE WHEN n % 10 = 0 THEN 'done' ELSE 'queued' END, n % 5,
        'agent' || n % 3, 0, 0, 1, 0, 0, 'Task with a title', '[]', '{}', 0, 0
      FROM generate_series(1, 20000) n;
    ANALYZE;
    SET plan_cache_mode = force_generic_plan;";

#[tokio::test]
async fn postgresql_reads_no_table_from_one_end_to_the_other() {
    let database = fleet_testkit::postgres::database();
    Store::open(&StoreUrl::Postgres(database.url().to_owned())).await.unwrap();
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(FILL).await.unwrap();
    let knowing = "'runner', 'claude', 2, 'here', '[]', '{}', '[]'";
    let statements = [
        (ONE_KNOWING, format!("(1, 'r1', {knowing})")),
        (MANY_KNOWING, format!("(1, '[\"r1\", \"r2\"]', {knowing})")),
        (LANES, String::new()),
        (READY, "(101)".to_owned()),
        (DEFERRED, "(101, 5)".to_owned()),
        (HEADS_POSTGRES, "('[[\"agent1\", \"p1\", 0]]', 0, 8)".to_owned()),
        (HEAD_HEADLESS, "(8)".to_owned()),
        (HEAD_INTERACTIVE, "(8)".to_owned()),
        (FIRST_INTERACTIVE, "(5)".to_owned()),
    ];
    for (number, (text, values)) in statements.into_iter().enumerate() {
        let text = Dialect::Postgres.adapt(text);
        client.batch_execute(&format!("PREPARE s{number} AS {text}")).await.unwrap();
        let rows = client.simple_query(&format!("EXPLAIN EXECUTE s{number} {values}")).await.unwrap();
        let mut plan = String::new();
        for row in rows {
            if let tokio_postgres::SimpleQueryMessage::Row(row) = row {
                writeln!(plan, "{}", row.get(0).unwrap()).unwrap();
            }
        }
        assert!(!plan.contains("Seq Scan on tasks"), "{text}\n{plan}");
        // A join with the head would be planned for a tenth of the table.
        assert!(text != MANY_KNOWING || plan.contains("Index Cond: (id = ANY ("), "{text}\n{plan}");
    }
}
