//! Projects, and where each place has them.

use fleet_core::event::EventSubject;
use fleet_core::id::ProjectId;
use fleet_core::project::{LikelyProject, Project, ProjectMatch, RepositoryFacts, match_project};

use super::rows::record;
use crate::ops::prelude::*;
use crate::tx::Lock;

/// The columns that [`project`] reads, in its order; `$place` is whose checkout is meant. Without one there, it is where
/// the project is elsewhere.
macro_rules! project_columns {
    ($place:literal) => {
        concat!(
            "p.id, coalesce((SELECT c.common_dir FROM checkouts c WHERE c.project = p.id AND c.place = ",
            $place,
            "), (SELECT min(c.common_dir) FROM checkouts c WHERE c.project = p.id), p.common_dir), \
             p.name, p.root, p.created_at"
        )
    };
}
pub(super) use project_columns;

pub(super) fn project(mut row: Row) -> Result<Project, StoreError> {
    Ok(Project {
        id: row.parse()?,
        common_dir: row.text()?,
        name: row.text()?,
        root: row.optional_text()?,
        created_at: Millis(row.int()?),
    })
}

/// Which repository a place has, and what it knows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectCheckout {
    pub place: String,
    pub common_dir: String,
    pub name: String,
}

#[derive(Debug, Clone)]
pub struct EnsureProject {
    /// For the project, if it is new.
    pub id: ProjectId,
    pub checkout: ProjectCheckout,
    pub seen: RepositoryFacts,
    pub now: Millis,
}

#[async_trait]
impl Op for EnsureProject {
    type Out = Project;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Project, StoreError> {
        tx.lock(Lock::Projects).await?;
        let likely = LikelyProjects { checkout: self.checkout.clone() }.run(tx).await?;
        match match_project(&likely, &self.seen) {
            ProjectMatch::Known(_) => {}
            ProjectMatch::Rerooted(id) => self.set_root(tx, id).await?,
            ProjectMatch::Joined(id) => {
                self.point_to(tx, id).await?;
                // One of an older version has none yet.
                if likely.iter().any(|project| project.id == id && project.root.is_none()) {
                    self.set_root(tx, id).await?;
                }
            }
            ProjectMatch::New => self.add(tx).await?,
        }
        let ProjectCheckout { place, common_dir, .. } = self.checkout.clone();
        FindProject { place, common_dir }.run(tx).await?.ok_or(StoreError::Changed)
    }
}

impl EnsureProject {
    async fn add(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        let path = self.checkout.common_dir.as_str();
        let taken = tx.query_one(sql!("SELECT 1 FROM projects WHERE common_dir = $1", path)).await?;
        let key = if taken.is_some() { format!("{path}#{}", self.id) } else { path.to_owned() };
        let insert = sql!(
            "INSERT INTO projects (id, common_dir, name, root, created_at) VALUES ($1, $2, $3, $4, $5)",
            self.id,
            key,
            self.checkout.name.as_str(),
            self.seen.root.as_deref(),
            self.now,
        );
        tx.defer(insert).await?;
        self.point_to(tx, self.id).await?;
        let subject = EventSubject { project: Some(self.id), ..EventSubject::default() };
        record(tx, self.now, subject, &Fact::ProjectAdded { name: self.checkout.name.clone() }).await
    }

    async fn set_root(&self, tx: &mut dyn Tx, id: ProjectId) -> Result<(), StoreError> {
        let root = self.seen.root.as_deref();
        tx.defer(sql!("UPDATE projects SET root = $1 WHERE id = $2", root, id)).await
    }

    async fn point_to(&self, tx: &mut dyn Tx, project: ProjectId) -> Result<(), StoreError> {
        let point = sql!(
            "INSERT INTO checkouts (place, common_dir, project) VALUES ($1, $2, $3) \
             ON CONFLICT (place, common_dir) DO UPDATE SET project = excluded.project",
            self.checkout.place.as_str(),
            self.checkout.common_dir.as_str(),
            project,
        );
        tx.defer(point).await
    }
}

/// The projects that a repository may belong to, because of its path or its name.
#[derive(Debug, Clone)]
pub struct LikelyProjects {
    pub checkout: ProjectCheckout,
}

#[async_trait]
impl Op for LikelyProjects {
    type Out = Vec<LikelyProject>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<LikelyProject>, StoreError> {
        let likely = sql!(
            "SELECT p.id, p.root, \
               EXISTS (SELECT 1 FROM checkouts c WHERE c.project = p.id AND c.place = $1 AND c.common_dir = $2), \
               EXISTS (SELECT 1 FROM checkouts c WHERE c.project = p.id AND c.place = $1), \
               EXISTS (SELECT 1 FROM checkouts c WHERE c.project = p.id AND c.place <> $1), \
               p.common_dir = $2 OR EXISTS (SELECT 1 FROM checkouts c WHERE c.project = p.id AND c.common_dir = $2) \
             FROM projects p WHERE p.common_dir = $2 OR p.name = $3 \
               OR EXISTS (SELECT 1 FROM checkouts c WHERE c.project = p.id AND c.common_dir = $2) ORDER BY p.id",
            self.checkout.place.as_str(),
            self.checkout.common_dir.as_str(),
            self.checkout.name.as_str(),
        );
        let one = |mut row: Row| {
            Ok(LikelyProject {
                id: row.parse()?,
                root: row.optional_text()?,
                is_checkout: row.int()? != 0,
                is_here: row.int()? != 0,
                is_elsewhere: row.int()? != 0,
                same_path: row.int()? != 0,
            })
        };
        tx.query_alone(likely).await?.into_iter().map(one).collect()
    }
}

/// The project of a repository, if that was seen at this place before.
#[derive(Debug, Clone)]
pub struct FindProject {
    pub place: String,
    pub common_dir: String,
}

#[async_trait]
impl Op for FindProject {
    type Out = Option<Project>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<Project>, StoreError> {
        let find = sql!(
            "SELECT p.id, c.common_dir, p.name, p.root, p.created_at FROM checkouts c \
             JOIN projects p ON p.id = c.project WHERE c.place = $1 AND c.common_dir = $2",
            self.place.as_str(),
            self.common_dir.as_str(),
        );
        tx.query_alone(find).await?.into_iter().next().map(project).transpose()
    }
}

/// All projects, by name: as this place has them, or, where it has none, as another one does.
#[derive(Debug, Clone)]
pub struct ListProjects {
    pub place: String,
}

#[async_trait]
impl Op for ListProjects {
    type Out = Vec<Project>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Project>, StoreError> {
        let all = sql!(
            concat!("SELECT ", project_columns!("$1"), " FROM projects p ORDER BY p.name, p.id"),
            self.place.as_str(),
        );
        tx.query_alone(all).await?.into_iter().map(project).collect()
    }
}

/// All projects, as they are for a place.
#[derive(Debug, Clone)]
pub struct ProjectsAt {
    pub place: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectAt {
    pub project: Project,
    pub is_known: bool,
    pub is_elsewhere: bool,
}

#[async_trait]
impl Op for ProjectsAt {
    type Out = Vec<ProjectAt>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<ProjectAt>, StoreError> {
        let all = sql!(
            "SELECT c.place IS NOT NULL, \
               EXISTS (SELECT 1 FROM checkouts e WHERE e.project = p.id AND e.place <> $1), \
               p.id, coalesce(c.common_dir, (SELECT min(e.common_dir) FROM checkouts e WHERE e.project = p.id), \
                 p.common_dir), p.name, p.root, p.created_at \
             FROM projects p LEFT JOIN checkouts c ON c.project = p.id AND c.place = $1 ORDER BY p.name, p.id",
            self.place.as_str(),
        );
        let one = |mut row: Row| {
            let (is_known, is_elsewhere) = (row.int()? != 0, row.int()? != 0);
            Ok(ProjectAt { is_known, is_elsewhere, project: project(row)? })
        };
        tx.query_alone(all).await?.into_iter().map(one).collect()
    }
}
