//! What an agent counts by itself, over a whole conversation, however many runs take part in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::Tokens;

/// The counters of a conversation, as its agent reports them. A run has used the difference to where the run before it
/// stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Meter {
    /// By kind.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_of_other_versions_can_be_read() {
        let tokens = Tokens { input: 10, output: 20, cache_read: 30, cache_write: 40 };
        let json = serde_json::to_string(&Meter { tokens, micro_usd: 50 }).unwrap();
        assert_eq!(json, r#"{"input":10,"output":20,"cache_read":30,"cache_write":40,"micro_usd":50}"#);
        let read: Meter = serde_json::from_str(r#"{"input":1,"reasoning":7}"#).unwrap();
        assert_eq!(read.tokens, Tokens { input: 1, ..Tokens::default() });
    }
}
