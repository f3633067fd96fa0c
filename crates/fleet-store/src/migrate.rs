//! The schema's versions: numbered, forward only.

pub(crate) struct Migration {
    /// The version that the store has after it.
    pub(crate) version: i64,
    /// Statements with seams.
    pub(crate) sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../migrations/0001_queue.sql") },
    Migration { version: 2, sql: include_str!("../migrations/0002_accounts.sql") },
    Migration { version: 3, sql: include_str!("../migrations/0003_conversations.sql") },
    Migration { version: 4, sql: include_str!("../migrations/0004_spawn.sql") },
    Migration { version: 5, sql: include_str!("../migrations/0005_workflows.sql") },
    Migration { version: 6, sql: include_str!("../migrations/0006_event_batches.sql") },
    Migration { version: 7, sql: include_str!("../migrations/0007_checkouts.sql") },
    Migration { version: 8, sql: include_str!("../migrations/0008_messages.sql") },
    Migration { version: 9, sql: include_str!("../migrations/0009_task_spec.sql") },
    Migration { version: 10, sql: include_str!("../migrations/0010_terminals.sql") },
    Migration { version: 11, sql: include_str!("../migrations/0011_questions.sql") },
    Migration { version: 12, sql: include_str!("../migrations/0012_task_memory.sql") },
];

/// The version that this program works with.
pub(crate) const LATEST: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// What a store of version `version` still needs, in order.
pub(crate) fn after(version: i64) -> impl Iterator<Item = &'static Migration> {
    MIGRATIONS.iter().filter(move |migration| migration.version > version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_up_from_one() {
        assert!(MIGRATIONS.iter().zip(1..).all(|(migration, number)| migration.version == number));
        assert_eq!(after(LATEST).count(), 0);
        assert_eq!(after(0).count(), MIGRATIONS.len());
    }
}
