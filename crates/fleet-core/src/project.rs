//! Projects: git repositories, identified by their git common dir, however they are reached.

use serde::{Deserialize, Serialize};

use crate::id::ProjectId;
use crate::time::Millis;

/// A repository that tasks are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// The git common dir: absolute, links resolved.
    pub common_dir: String,
    /// A name for people; need not be unique.
    pub name: String,
    /// When it was first seen.
    pub created_at: Millis,
}
