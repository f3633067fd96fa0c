//! What an agent counts by itself. Some count a whole conversation and go on counting when it is resumed: what such a
//! run has used is the difference to where the run before it stopped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the counters of a conversation stand, as its agent gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Meter {
    /// Tokens that went in, those of the cache left out.
    pub input: u64,
    /// Tokens that came out.
    pub output: u64,
    /// Tokens that were read from the provider's cache.
    pub cache_read: u64,
    /// Tokens that were written to the provider's cache.
    pub cache_write: u64,
    /// Money, in millionths of a US dollar.
    pub micro_usd: u64,
}

impl Meter {
    /// What was used since the counters stood at `earlier`. Counters never run backwards: where one is lower, the agent
    /// began to count anew, and all of it was used since.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        if self.is_behind(earlier) {
            return self;
        }
        Self {
            input: self.input - earlier.input,
            output: self.output - earlier.output,
            cache_read: self.cache_read - earlier.cache_read,
            cache_write: self.cache_write - earlier.cache_write,
            micro_usd: self.micro_usd - earlier.micro_usd,
        }
    }

    const fn is_behind(self, earlier: Self) -> bool {
        self.input < earlier.input
            || self.output < earlier.output
            || self.cache_read < earlier.cache_read
            || self.cache_write < earlier.cache_write
            || self.micro_usd < earlier.micro_usd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: Meter = Meter { input: 10, output: 20, cache_read: 30, cache_write: 40, micro_usd: 50 };

    #[test]
    fn a_resumed_conversation_is_counted_once() {
        let later = Meter { input: 11, output: 22, cache_read: 33, cache_write: 40, micro_usd: 55 };
        let used = Meter { input: 1, output: 2, cache_read: 3, cache_write: 0, micro_usd: 5 };
        assert_eq!(later.since(EARLIER), used);
        assert_eq!(later.since(Meter::default()), later);
        assert_eq!(EARLIER.since(EARLIER), Meter::default());
    }

    #[test]
    fn counters_that_began_anew_are_taken_as_they_are() {
        let anew = Meter { input: 900, output: 19, cache_read: 900, cache_write: 900, micro_usd: 900 };
        assert_eq!(anew.since(EARLIER), anew);
    }

    #[test]
    fn meters_of_other_versions_can_be_read() {
        let json = serde_json::to_string(&EARLIER).unwrap();
        assert_eq!(json, r#"{"input":10,"output":20,"cache_read":30,"cache_write":40,"micro_usd":50}"#);
        let read: Meter = serde_json::from_str(r#"{"input":1,"reasoning":7}"#).unwrap();
        assert_eq!(read, Meter { input: 1, ..Meter::default() });
    }
}
