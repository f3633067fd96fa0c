//! How full the conversation of an agent is.

use std::fmt;

/// What the last request of the main conversation had, those of sub-agents not counted. A conversation that its agent
/// compacted counts from there, because its next request is shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextUse {
    /// Everything that the model read for it, cached or not.
    pub tokens: u64,
    /// The most that the model can read.
    pub limit: u64,
}

impl ContextUse {
    /// Whether it fills this much of the context.
    pub fn is_at(self, percent: u8) -> bool {
        u128::from(self.tokens) * 100 >= u128::from(self.limit) * u128::from(percent)
    }
}

impl fmt::Display for ContextUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = u128::from(self.tokens) * 100 / u128::from(self.limit.max(1));
        write!(f, "{} of {} tokens, {percent} %", self.tokens, self.limit)
    }
}
