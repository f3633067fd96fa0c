//! Layered configuration, where each value knows where it came from.
//!
//! Later layers win: default, the user's file (`$FLEET_HOME/config.toml`), the project's file
//! (`.fleet/config.toml` in the work tree), `FLEET_*` variables, `--config KEY=VALUE` flags. What can be
//! configured is data: the table [`KEYS`]. A project's file is written by whoever wrote the repository, so it
//! may not set what is the user's own to decide ([`Scope::UserOnly`]), and nothing of it is shown unescaped.
//!
//! Owns the files' format, the layering, and the messages about both. Must never read the process's environment
//! itself, ask a human, or act on a setting.

mod agent;
mod earlier;
mod edit;
mod file;
mod flaw;
mod form;
mod keys;
mod load;
mod relations;
mod resolved;
mod secret;
mod setting;
mod suggest;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod typed;
mod value;
mod write;

pub use agent::{AgentSettings, OwnAgent};
pub(crate) use file::Lines;
pub(crate) use flaw::quoted;
pub use form::{Form, NoAmount, NoDuration};
pub use keys::{Fixed, Key, Kind, Scope, is_agent_name};
pub use load::Sources;
pub use resolved::Config;
pub use secret::Secret;
pub use setting::{ConfigFile, Origin, Setting};
pub use suggest::nearest;
pub use table::KEYS;
pub use template::template;
pub use typed::{AgentVariables, Color, Ports, RunLimits, Runner, Spending, Workspaces};
pub use value::Value;
pub use write::{replace, set, text, unset};
