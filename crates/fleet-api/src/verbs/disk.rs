use fleet_core::id::ProjectId;

use crate::prelude::*;

/// Reports disk usage.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// Several things, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amount {
    /// How many.
    pub count: usize,
    /// How much of the disk.
    pub bytes: u64,
}

/// What a project uses.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProjectDisk {
    pub id: ProjectId,
    pub name: String,
    pub repository: String,
    pub exists: bool,
    pub in_use: Amount,
    pub warm: Amount,
    pub logs: Amount,
    pub snapshots: Option<usize>,
    pub vault_bytes: u64,
}

/// What everything uses.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub home: String,
    pub projects: Vec<ProjectDisk>,
    pub other_logs: Amount,
    pub trash: Amount,
    pub store_bytes: Option<u64>,
    pub total_bytes: u64,
}

verb!("disk", Request => Answer, Reads, People);
