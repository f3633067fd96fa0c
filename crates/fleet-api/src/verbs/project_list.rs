use fleet_core::id::ProjectId;
use std::path::PathBuf;

use crate::prelude::*;

/// Lists the repositories that codefleet knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// A repository.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProjectView {
    /// Its id.
    pub id: ProjectId,
    /// What it is called.
    pub name: String,
    /// Its main work tree, or itself when it is bare.
    pub path: PathBuf,
}

/// All of them; an agent sees its own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they became known.
    pub projects: Vec<ProjectView>,
}

verb!("project.list", Request => Answer, Reads, Project);
