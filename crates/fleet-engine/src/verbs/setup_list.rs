use fleet_api::verbs::setup::{SetupClient, SetupScope};
use fleet_api::verbs::setup_list::{Answer, Request};

use super::prelude::*;
use super::setup::status;

/// How every client stands: in one scope, or for the user and wherever the project has an entry.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let all = |scope| SetupClient::ALL.into_iter().map(move |client| status(engine, client, scope));
    if let Some(scope) = request.scope {
        return Ok(Answer { clients: all(scope).collect::<Outcome<_>>()? });
    }
    let mut clients = all(SetupScope::User).collect::<Outcome<Vec<_>>>()?;
    if engine.repository().is_ok() {
        let of_project = all(SetupScope::Project).collect::<Outcome<Vec<_>>>()?;
        clients.extend(of_project.into_iter().filter(|found| found.status != "absent"));
    }
    Ok(Answer { clients })
}
