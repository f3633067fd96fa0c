//! What a reviewer or a judge thinks of what others did.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LONGEST_ITEM, MAX_ITEMS};
use crate::text::shorten;

/// A verdict; every part of it may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Verdict {
    /// Whether it may be used as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approve: Option<bool>,
    /// Who did best: the name of a stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// Points by the names of stages; more is better.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, Points>,
}

impl Verdict {
    /// Cuts every text and list to what is kept.
    pub(super) fn bound(&mut self) {
        if let Some(winner) = &mut self.winner {
            shorten(winner, LONGEST_ITEM);
        }
        if self.scores.len() > MAX_ITEMS || self.scores.keys().any(|name| name.len() > LONGEST_ITEM) {
            let kept = std::mem::take(&mut self.scores).into_iter();
            self.scores = kept.filter(|(name, _)| name.len() <= LONGEST_ITEM).take(MAX_ITEMS).collect();
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Points, exact to the hundredth, so that verdicts can be compared for equality.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "f64", into = "f64")]
#[schemars(with = "f64")]
pub struct Points(i64);

impl Points {
    #[expect(clippy::cast_precision_loss, reason = "within the bounds of `from`, hundredths are exact")]
    pub const fn to_f64(self) -> f64 {
        self.0 as f64 / 100.0
    }
}

impl From<f64> for Points {
    #[expect(clippy::cast_possible_truncation, reason = "clamped before")]
    fn from(number: f64) -> Self {
        let hundredths = (number * 100.0).round().clamp(-1e12, 1e12);
        Self(if hundredths.is_finite() { hundredths as i64 } else { 0 })
    }
}

impl From<Points> for f64 {
    fn from(points: Points) -> Self {
        points.to_f64()
    }
}
