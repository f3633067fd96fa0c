//! Several operations as one.

use crate::ops::prelude::*;

/// Runs operations in order, in one transaction: all or none.
#[derive(Debug, Clone)]
pub struct All<O>(pub Vec<O>);

#[async_trait]
impl<O: Op> Op for All<O> {
    type Out = Vec<O::Out>;
    const MODE: Mode = O::MODE;
    const READS_EVENTS: bool = O::READS_EVENTS;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<O::Out>, StoreError> {
        tx.together();
        let mut out = Vec::with_capacity(self.0.len());
        for op in &self.0 {
            out.push(op.run(tx).await?);
        }
        Ok(out)
    }
}

/// Runs two operations, one after the other, in one transaction: both of them, or none.
#[derive(Debug, Clone)]
pub struct Both<A, B>(pub A, pub B);

#[async_trait]
impl<A: Op, B: Op> Op for Both<A, B> {
    type Out = (A::Out, B::Out);
    const MODE: Mode = match (A::MODE, B::MODE) {
        (Mode::Read, Mode::Read) => Mode::Read,
        _ => Mode::Write,
    };
    const READS_EVENTS: bool = A::READS_EVENTS || B::READS_EVENTS;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        tx.together();
        Ok((self.0.run(tx).await?, self.1.run(tx).await?))
    }
}
