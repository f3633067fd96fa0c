//! Agents: how each one is started, and what its output means.
//!
//! Owns one adapter for each agent, which turns a [`Brief`] into a [`LaunchPlan`] and lines of output into
//! [`AgentEvent`]s. Everything that differs between agents is here; no other crate asks which agent it is. Pure: it
//! must never start a process, read a file or look at the clock. It must never trust what an agent prints either: a
//! line that it does not understand is passed on as it is, and no line makes it fail.

mod acp;
mod adapter;
mod agy;
pub mod claude;
mod codex;
mod common;
mod custom;
pub mod demo;
mod gemini;
mod opencode;
mod overridden;
mod prices;
mod registry;
mod terminal;
pub mod vendors;

use std::sync::Arc;

pub use acp::Acp;
pub use adapter::{
    About, Adapter, AgentFailure, Ask, Brief, ContextReading, Conversation, Decoder, Enforced, LaunchPlan,
    McpServer, PermissionAnswer, PlannedFile, Program, PromptVia, RecordFiles, RepositorySettings, Resumes,
    SettingsFiles, Trust,
};
pub use common::tool::is_editing;
pub use custom::{Custom, CustomError, CustomSpec, OutputPatterns};
pub use fleet_core::event::{AgentEvent, Counted, LocalTime, Stream, Tokens, When};
pub use fleet_core::run::Meter;
pub use opencode::Opencode;
pub use overridden::OverriddenAgent;
pub use prices::{Price, Prices};
pub use registry::Registry;

/// The agents that codefleet knows, in the order in which they are listed.
fn built_in() -> Vec<Arc<dyn Adapter>> {
    vec![
        Arc::new(claude::Claude),
        Arc::new(codex::Codex),
        Arc::new(gemini::Gemini),
        Arc::new(Opencode),
        Arc::new(agy::Agy),
        Arc::new(Acp::QWEN),
        Arc::new(Acp::COPILOT),
        Arc::new(Acp::ANY),
        Arc::new(demo::Demo),
    ]
}
