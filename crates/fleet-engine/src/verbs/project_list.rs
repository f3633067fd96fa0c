//! Lists the repositories that codefleet knows.

use std::path::PathBuf;

use fleet_core::id::ProjectId;
use fleet_core::problem::Outcome;
use serde::Serialize;

use crate::Engine;
use crate::keeper::checkout;

/// A repository.
#[derive(Debug, Clone, Serialize)]
pub struct ProjectView {
    /// Its id.
    pub id: ProjectId,
    /// What it is called.
    pub name: String,
    /// Its main work tree, or itself when it is bare.
    pub path: PathBuf,
}

/// Lists them all.
pub async fn run(engine: &Engine) -> Outcome<Vec<ProjectView>> {
    let all = engine.projects().await?.into_iter();
    Ok(all
        .map(|project| ProjectView { path: checkout(&project), id: project.id, name: project.name })
        .collect())
}
