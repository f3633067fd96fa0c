//! Code that several adapters share: reading JSON that may have any shape ([`json`]), tools and the files they touch
//! ([`tool`]), limits for an agent's texts ([`words`]), a bounded memory of things under way ([`recent`]), what a
//! provider's refusal means ([`refusal`]) and when it ends ([`reset`]).
//!
//! Owns no agent's format. Must never fail on an agent's output: a missing value or one of another type counts as none.
//! Must never keep more than its limits allow.

pub(crate) mod amount;
pub(crate) mod ansi;
pub(crate) mod json;
pub(crate) mod recent;
pub(crate) mod refusal;
pub(crate) mod reset;
pub(crate) mod tool;
pub(crate) mod words;
