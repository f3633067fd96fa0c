//! Several operations as one.

use crate::StoreError;
use crate::tx::{Mode, Op, Tx};

/// Runs operations in order, in one transaction: all of them, or none.
#[derive(Debug, Clone)]
pub struct All<O>(pub Vec<O>);

impl<O: Op> Op for All<O> {
    type Out = Vec<O::Out>;
    const MODE: Mode = O::MODE;
    const READS_EVENTS: bool = O::READS_EVENTS;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<O::Out>, StoreError> {
        tx.together();
        let mut out = Vec::with_capacity(self.0.len());
        for op in &self.0 {
            out.push(op.run(tx).await?);
        }
        Ok(out)
    }
}
