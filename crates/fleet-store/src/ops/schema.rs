//! Whether this program is too old for the store.

use async_trait::async_trait;

use crate::dialect::Dialect;
use crate::tx::{Mode, Op, Tx, sql};
use crate::{StoreError, migrate};

/// The version of the schema, if it is newer than this program: another one has brought the store up to date since this
/// one opened it. What is open goes on working, and nobody can open it any more.
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
