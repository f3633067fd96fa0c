//! Which project a directory belongs to, and which projects this machine has.

use fleet_core::id::ProjectId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::{Project, match_project};
use fleet_store::ops;

use super::{Engine, common_dir};
use crate::{allowed, checkouts, problems};

impl Engine {
    /// The project of the directory, added to the store if it is new. Refused where agents may not work.
    pub async fn project(&self) -> Outcome<Project> {
        allowed::check(self)?;
        let checkout = self.checkout().await?;
        let found = self.found(&checkout).await?;
        if let Some(project) = &found
            && project.root.is_some()
            && checkouts::is_of(project).await?
        {
            return Ok(project.clone());
        }
        let likely = self.call(ops::LikelyProjects { checkout: checkout.clone() }).await?;
        let seen = checkouts::repository_facts(&checkout.common_dir, &likely).await?;
        match found {
            Some(project) if project.root.is_none() && seen.root.is_none() => Ok(project),
            _ => {
                let (id, now) = (self.new_id()?, self.now());
                self.call(ops::EnsureProject { id, checkout, seen, now }).await
            }
        }
    }

    /// The project of the directory, if it is one that the store knows.
    pub async fn known_project(&self) -> Outcome<Option<Project>> {
        let checkout = self.checkout().await?;
        let found = self.found(&checkout).await?;
        if let Some(project) = &found
            && checkouts::is_of(project).await?
        {
            return Ok(found);
        }
        let likely = self.call(ops::LikelyProjects { checkout: checkout.clone() }).await?;
        if likely.is_empty() {
            return Ok(None);
        }
        let seen = checkouts::repository_facts(&checkout.common_dir, &likely).await?;
        let Some(id) = match_project(&likely, &seen).project() else { return Ok(None) };
        let all = self.call(ops::ListProjects { place: checkout.place }).await?;
        let known = all.into_iter().find(|project| project.id == id);
        Ok(known.map(|project| Project { common_dir: checkout.common_dir, ..project }))
    }

    /// A repository that another place has too is known here from now on. One that no other place has is not added.
    /// Errors are ignored: a runner also works for other repositories.
    pub(crate) async fn join_project(&self) {
        // Runners are nowhere, so that only the user's own configuration counts.
        let Ok(here) = self.back() else { return };
        let Ok(checkout) = here.checkout().await else { return };
        // A checkout that is known stays what it is: only a person who adds work there says that it is another repository.
        let is_unknown = matches!(here.found(&checkout).await, Ok(None));
        if is_unknown && matches!(here.known_project().await, Ok(Some(_))) {
            let _ = here.project().await;
        }
    }

    async fn found(&self, checkout: &ops::ProjectCheckout) -> Outcome<Option<Project>> {
        let ops::ProjectCheckout { place, common_dir, .. } = checkout.clone();
        self.call(ops::FindProject { place, common_dir }).await
    }

    /// The repository of the directory, as the store knows repositories.
    async fn checkout(&self) -> Outcome<ops::ProjectCheckout> {
        let repository = self.repository()?;
        // Opening the store reports a home that cannot be used, with what to do.
        self.store().await?;
        let (place, common_dir) = (self.place()?, common_dir(repository)?);
        Ok(ops::ProjectCheckout { place, common_dir, name: repository.display_name() })
    }

    /// Which home on which machine this is.
    pub(crate) fn place(&self) -> Outcome<String> {
        if let Some(place) = self.place.get() {
            return Ok(place.clone());
        }
        let place = self.home.place().map_err(problems::at(self.home.root()))?;
        Ok(self.place.get_or_init(|| place).clone())
    }

    /// The projects that this place has, or that no place is known to have.
    pub(crate) async fn projects_here(&self) -> Outcome<Vec<Project>> {
        self.store().await?;
        let all = self.call(ops::ProjectsAt { place: self.place()? }).await?;
        let is_here = |at: &ops::ProjectAt| at.is_known || !at.is_elsewhere;
        Ok(all.into_iter().filter(is_here).map(|at| at.project).collect())
    }

    pub(crate) async fn project_here(&self, id: ProjectId) -> Outcome<Project> {
        let found = self.projects_here().await?.into_iter().find(|project| project.id == id);
        found.ok_or_else(|| {
            Problem::new(Code::NotHere, "this machine has no checkout of the repository")
                .hint("run the command on a machine that has one; `fleet list --all` shows who works where")
        })
    }

    /// All projects, as this place has them, or as another one does.
    pub(crate) async fn projects(&self) -> Outcome<Vec<Project>> {
        self.store().await?;
        self.call(ops::ListProjects { place: self.place()? }).await
    }
}
