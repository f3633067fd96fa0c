//! Scores in requests.

use serde::{Serialize as _, Serializer};

/// Refuses what JSON has no number for: it would travel as nothing, which means the usual score.
#[expect(clippy::ref_option, reason = "serde hands out what the field holds")]
pub(crate) fn finite<S: Serializer>(score: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match score {
        Some(score) if !score.is_finite() => {
            Err(serde::ser::Error::custom(format!("threshold: {score} is not between 0 and 1")))
        }
        _ => score.serialize(serializer),
    }
}
