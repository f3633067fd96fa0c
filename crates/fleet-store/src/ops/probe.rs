//! Whether the store takes anything.

use async_trait::async_trait;
use fleet_core::time::Millis;

use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// So much is written, which is more than what a store that is nearly full has left in its own file.
const BYTES: usize = 256 * 1024;

/// Writes something and takes it back, in one transaction: nobody ever sees it.
#[derive(Debug, Clone)]
pub struct Probe {
    /// A name that nothing else has.
    pub name: String,
    pub now: Millis,
}

#[async_trait]
impl Op for Probe {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        let add = sql!(
            "INSERT INTO projects (id, common_dir, name, created_at) VALUES ($1, $1, $2, $3)",
            self.name.clone(),
            "x".repeat(BYTES),
            self.now,
        );
        tx.defer(add).await?;
        tx.defer(sql!("DELETE FROM projects WHERE id = $1", self.name.clone())).await
    }
}
