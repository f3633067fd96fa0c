//! What happens when somebody wants a workflow tried again.

use super::{Copies, Part, PartState, Skip, Spec};

/// What becomes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Its task is tried again. One that never was a task waits again, and is looked at anew.
    Retried {
        /// Its place among the parts.
        part: usize,
    },
    /// It is only remembered from now on.
    Replaced {
        /// Its place among the parts.
        part: usize,
    },
}

/// What is to be done before the workflow goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revival {
    /// What becomes of the parts there are.
    pub fates: Vec<Again>,
    /// New parts, added after all others, pending.
    pub parts: Vec<Part>,
}

/// What is to be tried again: all that failed, was cancelled, or was skipped because of that. With `from`, that stage and
/// all that build on it are done once more as well, however they ended.
pub fn again(spec: &Spec, parts: &[Part], from: Option<usize>) -> Revival {
    let anew = from.map(|stage| {
        let mut stages = spec.downstream(stage);
        stages.push(stage);
        stages
    });
    let mut revival = Revival::default();
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.replaced) {
        let is_anew = anew.as_ref().is_some_and(|stages| stages.contains(&part.stage));
        if is_anew && part.state != PartState::Pending {
            revival.fates.push(Again::Replaced { part: at });
            // Those of a list are counted out again: it may be another list by then.
            let copies = spec.stages.get(part.stage).map(|stage| &stage.copies);
            if !matches!(copies, Some(Copies::EachOf(_))) {
                revival.parts.push(Part::new(part.stage, part.number, part.item.clone()));
            }
        } else if is_wanting(part) {
            revival.fates.push(if part.is_placeholder(spec) {
                Again::Replaced { part: at }
            } else {
                Again::Retried { part: at }
            });
        }
    }
    revival
}

/// Whether it has not come to what its author wanted, and that was no decision of its own.
fn is_wanting(part: &Part) -> bool {
    part.state.is_bad() || matches!(part.skip, Some(Skip::Upstream | Skip::Over))
}
