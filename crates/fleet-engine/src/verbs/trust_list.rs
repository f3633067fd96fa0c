use fleet_api::verbs::trust_list::{Answer, ConsentView, Request};

use super::prelude::*;
use super::trust_show::{judged, wishes};
use crate::trust::{Consent, ConsentStore};

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let consents = ConsentStore::new(engine.home().root()).list()?.into_iter();
    let entry = |Consent { project, hash, setting, file, content, at }| {
        let at = Moment(at);
        ConsentView { project, hash, setting, file, content, at }
    };
    let here = engine.repository().is_ok().then(|| judged(engine, &wishes(engine, None)?)).transpose()?;
    Ok(Answer { trusted: consents.map(entry).collect(), here })
}
