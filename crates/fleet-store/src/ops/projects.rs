//! Projects.

use fleet_core::event::{Fact, Subject};
use fleet_core::id::ProjectId;
use fleet_core::project::Project;
use fleet_core::time::Millis;

use super::rows::record;
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};
use crate::value::Row;

/// The columns that [`project`] reads, in its order.
macro_rules! project_columns {
    () => {
        "p.id, p.common_dir, p.name, p.created_at"
    };
}
pub(super) use project_columns;

pub(super) fn project(mut row: Row) -> Result<Project, StoreError> {
    Ok(Project {
        id: row.parse()?,
        common_dir: row.text()?,
        name: row.text()?,
        created_at: Millis(row.int()?),
    })
}

/// The project of a repository, added if it is new.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of Project")]
pub struct EnsureProject {
    /// For the project, if it is new.
    pub id: ProjectId,
    pub common_dir: String,
    pub name: String,
    pub now: Millis,
}

impl Op for EnsureProject {
    type Out = Project;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Project, StoreError> {
        let insert = sql!(
            "INSERT INTO projects (id, common_dir, name, created_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (common_dir) DO NOTHING RETURNING 1",
            self.id,
            self.common_dir.as_str(),
            self.name.as_str(),
            self.now,
        );
        if !tx.query(insert).await?.is_empty() {
            let subject = Subject { project: Some(self.id), ..Subject::default() };
            record(tx, self.now, subject, &Fact::ProjectAdded { name: self.name.clone() }).await?;
        }
        let found = FindProject { common_dir: self.common_dir.clone() }.run(tx).await?;
        found.ok_or(StoreError::Changed)
    }
}

/// The project of a repository, if it was ever seen.
#[derive(Debug, Clone)]
pub struct FindProject {
    /// The git common dir.
    pub common_dir: String,
}

impl Op for FindProject {
    type Out = Option<Project>;
    const MODE: Mode = Mode::Read;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<Project>, StoreError> {
        let find = sql!(
            concat!("SELECT ", project_columns!(), " FROM projects p WHERE p.common_dir = $1"),
            self.common_dir.as_str(),
        );
        tx.query_alone(find).await?.into_iter().next().map(project).transpose()
    }
}

/// All projects, by name.
#[derive(Debug, Clone, Copy)]
pub struct ListProjects;

impl Op for ListProjects {
    type Out = Vec<Project>;
    const MODE: Mode = Mode::Read;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Project>, StoreError> {
        let all = sql!(concat!("SELECT ", project_columns!(), " FROM projects p ORDER BY p.name, p.id"));
        tx.query_alone(all).await?.into_iter().map(project).collect()
    }
}
