use fleet_api::verbs::trust::{Answer, Request};

use super::prelude::*;
use super::trust_show::{judged, wishes};
use crate::trust::ConsentStore;

/// Agrees to what was shown, as far as that is still wanted: what came since is asked about again.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let asked = wishes(engine, request.workflow.as_deref())?;
    let seen = asked.clone().among(&request.asked);
    let changed = !seen.is_empty() && ConsentStore::new(engine.home().root()).grant(&seen, engine.now())?;
    Ok(Answer { status: judged(engine, &asked)?, changed })
}
