//! Agents: how each one is started, and what its output means.
//!
//! Owns one adapter for each agent, which turns a [`Brief`] into a [`LaunchPlan`] and lines of output into
//! [`AgentEvent`]s. Everything that differs between agents is here; nobody else asks which agent it is. Pure: it
//! must never start a process, read a file or look at the clock. It must never trust what an agent prints either:
//! a line that it does not understand is passed on as it is, and no line makes it fail.

mod adapter;
pub mod demo;
mod event;

pub use adapter::{Adapter, Ask, Brief, Decoder, LaunchPlan, Program, PromptVia, Stream};
pub use event::{AgentEvent, Counted, Tokens, When};

/// Every adapter, in the order in which they are listed.
static ADAPTERS: &[&dyn Adapter] = &[&demo::Demo];

/// Every agent that codefleet can start.
pub fn all() -> impl Iterator<Item = &'static dyn Adapter> {
    ADAPTERS.iter().copied()
}

/// The adapter of this name.
pub fn find(name: &str) -> Option<&'static dyn Adapter> {
    all().find(|adapter| adapter.name() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn agents_are_found_by_names_that_differ() {
        let names: BTreeSet<&str> = all().map(Adapter::name).collect();
        assert_eq!(names.len(), all().count());
        for name in names {
            assert_eq!(find(name).map(Adapter::name), Some(name));
        }
        assert!(find("nobody").is_none());
    }
}
