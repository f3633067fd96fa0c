//! What happens when a user retries a workflow.

use super::{Copies, Part, PartState, Skip, Spec};

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartRetry {
    /// Its task is tried again. One that never was a task waits again, and is decided again.
    Retried { part: usize },
    /// It stays only as a record.
    Replaced { part: usize },
}

/// What to do before the workflow continues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryPlan {
    /// What becomes of the existing parts.
    pub fates: Vec<PartRetry>,
    /// New parts, added after all others, pending.
    pub parts: Vec<Part>,
}

/// What is to be tried again: all that failed, was cancelled, or was skipped because of that. With `from`, that stage and
/// all that build on it are done once more as well, however they ended.
pub fn plan_retry(spec: &Spec, parts: &[Part], from: Option<usize>) -> RetryPlan {
    let anew = from.map(|stage| {
        let mut stages = spec.downstream(stage);
        stages.push(stage);
        stages
    });
    let mut retry = RetryPlan::default();
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.replaced) {
        let is_anew = anew.as_ref().is_some_and(|stages| stages.contains(&part.stage));
        if is_anew && part.state != PartState::Pending {
            retry.fates.push(PartRetry::Replaced { part: at });
            // Those of a list are counted out again: it may be another list by then.
            let copies = spec.stages.get(part.stage).map(|stage| &stage.copies);
            if !matches!(copies, Some(Copies::EachOf(_))) {
                retry.parts.push(Part::new(part.stage, part.number, part.item.clone()));
            }
        } else if is_wanting(part) {
            retry.fates.push(if part.is_placeholder(spec) {
                PartRetry::Replaced { part: at }
            } else {
                PartRetry::Retried { part: at }
            });
        }
    }
    retry
}

/// Whether it has not come to what its author wanted, and that was no decision of its own.
fn is_wanting(part: &Part) -> bool {
    part.state.is_bad() || matches!(part.skip, Some(Skip::Upstream | Skip::Over))
}
