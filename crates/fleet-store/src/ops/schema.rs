//! Whether this program is too old for the store.

use crate::dialect::Dialect;
use crate::migrate;
use crate::ops::prelude::*;

/// The version of the schema, if it is newer than this program: another program has migrated the store since this one
/// opened it. Open stores keep working, but this program cannot open it again.
#[derive(Debug, Clone, Copy)]
pub struct NewerSchema;

#[async_trait]
impl Op for NewerSchema {
    type Out = Option<i64>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<i64>, StoreError> {
        let version = match tx.dialect() {
            Dialect::Sqlite => sql!("SELECT user_version FROM pragma_user_version"),
            Dialect::Postgres => sql!("SELECT coalesce(max(version), 0) FROM fleet_schema"),
        };
        let row = tx.query_alone(version).await?.pop();
        let found = row.map(|mut row| row.int()).transpose()?;
        Ok(found.filter(|found| *found > migrate::LATEST))
    }
}
