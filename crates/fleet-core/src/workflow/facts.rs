//! What a stage came to, as conditions see it.

use std::collections::BTreeMap;

use super::condition::ConditionValue;
use super::{Part, PartState};
use crate::outcome::RunResult;
use crate::report::Verdict;

/// What the parts' tasks left, by the place of the part. Parts that were not started have none.
pub type Results = BTreeMap<usize, RunResult>;

/// All parts of one stage, taken together.
#[derive(Debug)]
pub struct StageFacts<'a> {
    parts: Vec<(&'a Part, Option<&'a RunResult>)>,
}

/// The names that a condition may use after the name of a stage and a dot, with what they are.
pub(super) const FACTS: [(&str, &str); 9] = [
    ("ok", "whether all of it is done"),
    ("status", "completed, completed_no_changes, failed, cancelled or skipped"),
    ("approve", "whether the verdict approves"),
    ("winner", "the stage that the verdict names"),
    ("scores", "scores.NAME: the points that the verdict gives"),
    ("files", "how many files git shows as changed"),
    ("commits", "how many commits git shows"),
    ("items", "how many entries the returned list has"),
    ("failed_tests", "how many tests failed, as the agent reports"),
];

impl<'a> StageFacts<'a> {
    pub fn of(stage: usize, parts: &'a [Part], results: &'a Results) -> Self {
        let own = parts.iter().enumerate().filter(|(_, part)| part.stage == stage && !part.replaced);
        Self { parts: own.map(|(at, part)| (part, results.get(&at))).collect() }
    }

    /// The value behind a name; null where the stage has none.
    pub fn value(&self, name: &str) -> ConditionValue {
        if let Some(whom) = name.strip_prefix("scores.") {
            let points = self.verdicts().find_map(|verdict| verdict.scores.get(whom).copied());
            return points.map_or(ConditionValue::Null, |points| ConditionValue::Number(points.to_f64()));
        }
        let sum = |count: fn(&RunResult) -> usize| ConditionValue::number(self.results().map(count).sum());
        match name {
            "ok" => ConditionValue::Bool(self.is_ok()),
            "status" => ConditionValue::Text(self.status().to_owned()),
            "approve" => self.approve(),
            "winner" => {
                let winner = self.verdicts().find_map(|verdict| verdict.winner.clone());
                winner.map_or(ConditionValue::Null, ConditionValue::Text)
            }
            "files" => sum(|result| result.files),
            "commits" => sum(|result| result.commit_count),
            "items" => sum(|result| result.items.len()),
            "failed_tests" => sum(RunResult::failed_tests),
            _ => ConditionValue::Null,
        }
    }

    fn results(&self) -> impl Iterator<Item = &'a RunResult> {
        self.parts.iter().filter_map(|(_, result)| *result)
    }

    fn verdicts(&self) -> impl Iterator<Item = &'a Verdict> {
        self.results().filter_map(|result| result.verdict.as_ref())
    }

    fn is_ok(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|(part, _)| part.state == PartState::Done)
    }

    /// The worst of its parts decides.
    fn status(&self) -> &'static str {
        let any = |state| self.parts.iter().any(|(part, _)| part.state == state);
        if any(PartState::Failed) {
            "failed"
        } else if any(PartState::Cancelled) {
            "cancelled"
        } else if any(PartState::Skipped) && !any(PartState::Done) {
            "skipped"
        } else if self.results().all(|result| result.files == 0 && result.commit_count == 0) {
            "completed_no_changes"
        } else {
            "completed"
        }
    }

    /// All that have an opinion must approve.
    fn approve(&self) -> ConditionValue {
        let mut opinions = self.verdicts().filter_map(|verdict| verdict.approve).peekable();
        if opinions.peek().is_none() {
            ConditionValue::Null
        } else {
            ConditionValue::Bool(opinions.all(|approve| approve))
        }
    }
}
