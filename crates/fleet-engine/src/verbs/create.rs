use fleet_api::verbs::create::Request;
use fleet_api::views::Launched;
use fleet_core::problem::Outcome;

use super::launch;
use crate::Engine;

/// Adds the tasks to the project of the directory; nobody is told to start them yet.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Launched> {
    launch::run(engine, request).await
}
