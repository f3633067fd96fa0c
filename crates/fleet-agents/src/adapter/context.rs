//! How long the conversation of an agent is, as it tells.

use fleet_core::event::Tokens;

/// The last request of the main conversation: those of sub-agents do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextReading {
    /// Everything that the model read for it, cached or not.
    pub tokens: u64,
    /// The most that the model can read, if the agent knows it.
    pub limit: Option<u64>,
}

impl ContextReading {
    /// From what one request read; nothing if that is nothing.
    pub(crate) fn of_request(tokens: Tokens) -> Option<Self> {
        let tokens = tokens.all_input();
        (tokens > 0).then_some(Self { tokens, limit: None })
    }
}
