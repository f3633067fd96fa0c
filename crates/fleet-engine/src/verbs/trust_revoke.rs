use fleet_api::verbs::trust_revoke::{Answer, Request};

use super::prelude::*;
use crate::trust::ConsentStore;

/// Takes back all for the project of the directory, whatever its file says.
pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let project = engine.common_dir()?;
    let revoked = ConsentStore::new(engine.home().root()).revoke(&project)?;
    Ok(Answer { project, revoked })
}
