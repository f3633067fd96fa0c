//! The clock that all machines share.

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::ops::prelude::*;

/// The time of the server; `None` without a server, where all processes share one clock.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ServerTime;

#[async_trait]
impl Op for ServerTime {
    type Out = Option<Millis>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<Millis>, StoreError> {
        if tx.dialect() == Dialect::Sqlite {
            return Ok(None);
        }
        let time = sql!("SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)");
        tx.query_alone(time).await?.pop().map(|mut row| row.int().map(Millis)).transpose()
    }
}
