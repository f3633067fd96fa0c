//! What tasks left.

use std::collections::BTreeMap;

use fleet_core::outcome::RunResult;
use fleet_core::run::Run;

use crate::ops::deps::id_list;
use crate::ops::prelude::*;
use crate::ops::runs::row::{run, run_columns};

/// The run that says what became of a task: the newest that succeeded, else the newest.
#[derive(Debug, Clone)]
pub(in crate::ops) struct DecidingRun {
    pub(in crate::ops) run: Run,
    pub(in crate::ops) result: Option<RunResult>,
}

/// How many tasks are read at once.
const CHUNK: usize = 64;
/// Results together are at most so large in memory, give or take a chunk; a result is some kilobytes. Those beyond are
/// left out, the runs are not.
const MAX_BYTES: usize = 32 << 20;

macro_rules! left_query {
    ($text:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            ", ",
            $text,
            " FROM runs r LEFT JOIN run_texts x ON x.run = r.id AND x.kind = 'result' \
             WHERE r.task IN {list 1} AND r.fence = (SELECT o.fence FROM runs o WHERE o.task = r.task \
               ORDER BY (o.state = 'succeeded') DESC, o.fence DESC LIMIT 1)"
        )
    };
}

const WITH_RESULT: &str = left_query!("x.text");
const WITHOUT: &str = left_query!("NULL");

/// What these tasks left, by the task. One that was never claimed left nothing.
pub(in crate::ops) async fn results_of(
    tx: &mut dyn Tx,
    tasks: &[TaskId],
) -> Result<BTreeMap<TaskId, DecidingRun>, StoreError> {
    let (mut left, mut bytes) = (BTreeMap::new(), 0);
    for chunk in tasks.chunks(CHUNK) {
        let text = if bytes < MAX_BYTES { WITH_RESULT } else { WITHOUT };
        for mut row in tx.query(sql!(text, id_list(chunk.iter().copied()))).await? {
            let run = run(&mut row)?;
            let text = row.optional_text()?;
            bytes += text.as_ref().map_or(0, String::len);
            // A result that cannot be read, such as that of a newer version, must not stop those that come after.
            let result = text.and_then(|text| serde_json::from_str(&text).ok());
            left.insert(run.task, DecidingRun { run, result });
        }
    }
    Ok(left)
}
