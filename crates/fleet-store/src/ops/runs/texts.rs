//! Long texts of runs, and short ones as the rows keep them.

use crate::ops::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum RunTextKind {
    Report,
    Result,
}

impl RunTextKind {
    pub(in crate::ops) const fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Result => "result",
        }
    }
}

/// Stores a text in place of an earlier one.
pub(super) async fn write_text(
    tx: &mut dyn Tx,
    run: RunId,
    kind: RunTextKind,
    text: &str,
) -> Result<(), StoreError> {
    let write = sql!(
        "INSERT INTO run_texts (run, kind, text) VALUES ($1, $2, $3) \
         ON CONFLICT (run, kind) DO UPDATE SET text = excluded.text",
        run,
        kind.as_str(),
        text,
    );
    tx.defer(write).await
}

/// The longest sentence about an end, in characters: it is shown in one line.
const LONGEST_SENTENCE: usize = 2_000;

/// A sentence from an agent or a person, as the store keeps it.
pub(in crate::ops) fn shown(text: &str) -> String {
    bounded(text, LONGEST_SENTENCE)
}

/// At most `longest` characters. PostgreSQL stores no NUL, and agents print anything.
pub(in crate::ops) fn bounded(text: &str, longest: usize) -> String {
    text.chars().filter(|character| *character != '\0').take(longest).collect()
}
