//! What happens to agents, told once for all of them.

pub(crate) mod budgets;
pub(crate) mod cancel;
pub(crate) mod conversations;
pub(crate) mod permissions;
pub(crate) mod prompts;
pub(crate) mod refusals;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod silence;
pub(crate) mod success;
pub(crate) mod terminals;
pub(crate) mod tools;
pub(crate) mod workflows;
