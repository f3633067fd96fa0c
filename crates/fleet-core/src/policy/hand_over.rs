//! Who goes on with a task when its agent cannot.

use crate::task::AgentName;
use crate::time::Millis;

/// An agent that may work on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EligibleAgent {
    pub agent: AgentName,
    /// The end of the pause of its account, if that is paused now.
    pub paused_until: Option<Millis>,
}

/// The agent that takes over from the one that failed: the next in turn that is not paused, and after the last comes
/// the first. If all are paused, the one that is free first, which may be the one that failed: then no agent takes
/// over.
///
/// In turn and not from the front: after two of three agents have failed, the third gets its chance even if the first
/// is free again.
pub fn successor(helpers: &[EligibleAgent], failed: &AgentName) -> Option<AgentName> {
    let at = helpers.iter().position(|helper| helper.agent == *failed);
    let (before, after) = helpers.split_at(at.map_or(0, |at| at + 1));
    let others = after.iter().chain(before).filter(|helper| helper.agent != *failed);
    if let Some(free) = others.clone().find(|helper| helper.paused_until.is_none()) {
        return Some(free.agent.clone());
    }
    // One whose account is not paused is free to try again by itself.
    let own = at.and_then(|at| helpers[at].paused_until)?;
    let earliest = others.min_by_key(|helper| helper.paused_until)?;
    earliest.paused_until.filter(|until| *until < own).map(|_| earliest.agent.clone())
}
