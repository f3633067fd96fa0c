use fleet_api::verbs::project_list::{Answer, ProjectView, Request};

use super::lineage;
use super::prelude::*;
use crate::keeper::checkout;

/// Lists them all; to an agent, its own.
pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let own = lineage::own_project(engine)?.map(|project| project.id);
    let all = engine.projects().await?.into_iter();
    let shown = all.filter(|project| own.is_none_or(|own| own == project.id));
    let view = |project| ProjectView { path: checkout(&project), id: project.id, name: project.name };
    Ok(Answer { projects: shown.map(view).collect() })
}
