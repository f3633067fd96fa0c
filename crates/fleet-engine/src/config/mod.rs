//! Layered configuration, where each value knows where it came from.
//!
//! Later layers win: default, the user's file (`$FLEET_HOME/config.toml`), the project's file (`.fleet/config.toml` in
//! the work tree), `FLEET_*` variables, `--config KEY=VALUE` flags. What can be configured is the table in `keys.rs`. A
//! project's file comes from the authors of the repository, so it may not set what only the user may decide, and
//! nothing of it is shown unescaped.
//!
//! Owns the files' format, the layering, and the messages about both. Must never read the process's environment
//! itself, ask a human, or act on a setting.

mod earlier;
mod edit;
mod file;
mod form;
mod key;
mod keys;
mod load;
mod messages;
mod names;
mod read;
mod resolved;
mod secret;
mod setting;
mod suggest;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub(crate) use file::LineIndex;
pub use keys::{
    AgentSettings, CapSettings, Color, General, LaunchDefaults, Ports, RateLimitSettings, RunLimits, Runner,
    Spending,
};
pub use keys::{TaskDefaults, Workspaces};
pub use load::Sources;
pub(crate) use messages::quoted;
pub use resolved::{AgentVariables, Config};
pub use secret::Secret;
pub use setting::{ConfigFile, Origin, Setting};
pub use suggest::{did_you_mean, nearest};
pub use template::{ProjectLine, project_template, template};
pub use value::ConfigValue;
pub(crate) use write::check_text;
pub use write::{check_plain, replace, set, set_all, text, unset};
