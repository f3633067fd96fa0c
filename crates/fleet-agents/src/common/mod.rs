//! What several adapters need, each thing once: looking into JSON that nobody vouches for ([`json`]), tools and the files
//! they touch ([`tool`]), how much of an agent's words is kept ([`words`]), what is remembered of things that are under
//! way ([`recent`]), what a provider's refusal means ([`refusal`]) and when it is over ([`reset`]).
//!
//! Owns no agent's format. Must never fail on what an agent wrote: what is not there or not of the expected kind is
//! nothing. Must never keep more than it says.

pub(crate) mod amount;
pub(crate) mod ansi;
pub(crate) mod json;
pub(crate) mod recent;
pub(crate) mod refusal;
pub(crate) mod reset;
pub(crate) mod tool;
pub(crate) mod words;
