use crate::prelude::*;

/// Describes this installation: its version, where it stores things, and its global settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// What there is to know without asking the store, which may be out of order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The version of codefleet.
    pub version: String,
    /// `$FLEET_HOME`.
    pub home: String,
    /// The file of the store; null for a server, and for agents.
    pub store_file: Option<String>,
    /// Where git is; null if it is not on the `PATH`.
    pub git: Option<String>,
    /// The agent for tasks that name none; null if the configuration cannot be read.
    pub default_agent: Option<String>,
    /// Whether a runner is started with the next work, where none is up.
    pub autostart: bool,
    /// How many generations of tasks may follow from one of a person.
    pub spawn_depth: u32,
    /// How often a run shows that it lives.
    pub heartbeat_seconds: u64,
}

verb!("about", Request => Answer, Reads, All);
