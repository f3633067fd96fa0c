//! Whether the store takes anything.

use crate::ops::prelude::*;

/// How much is written: more than the free space within the file of a store that is nearly full.
const BYTES: usize = 256 * 1024;

/// Writes something and takes it back, in one transaction: no other transaction ever sees it.
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
