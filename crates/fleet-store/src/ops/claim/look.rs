//! Whether a claim is worth it: a look is a read, a claim takes the lock of the writers.

use super::ClaimOnly;
use crate::ops::prelude::*;

/// A task that needs nothing but a runner, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct FirstReady {
    pub only: ClaimOnly,
    pub now: Millis,
}

/// The head of the queue, or a scheduled task whose time has come since the last claim.
macro_rules! first {
    ($ready:literal, $due:literal) => {
        concat!(
            "SELECT coalesce((SELECT t.id FROM tasks t ",
            $ready,
            " AND t.status = 'ready' ORDER BY t.priority DESC, t.id LIMIT 1), (SELECT t.id FROM tasks t ",
            $due,
            " AND t.deferred = 1 AND t.due <= $1 AND t.state = 'queued' AND t.open_deps = 0 ORDER BY t.due LIMIT 1))"
        )
    };
}

const FIRST: &str = first!("WHERE 1 = 1", "WHERE 1 = 1");
const FIRST_HEADLESS: &str = first!("WHERE t.interactive = 0", "WHERE t.interactive = 0");
pub(super) const FIRST_INTERACTIVE: &str =
    first!("{by_terminal} WHERE t.interactive = 1", "{by_terminal_due} WHERE t.interactive = 1");

#[async_trait]
impl Op for FirstReady {
    type Out = Option<TaskId>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<TaskId>, StoreError> {
        let first = match self.only {
            ClaimOnly::Any => FIRST,
            ClaimOnly::Headless => FIRST_HEADLESS,
            ClaimOnly::Interactive => FIRST_INTERACTIVE,
        };
        let row = tx.query_one(sql!(first, self.now)).await?;
        row.map_or(Ok(None), |mut row| row.optional_parse())
    }
}
