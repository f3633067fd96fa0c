use fleet_api::verbs::trust_list::{Answer, Entry, Request};

use super::prelude::*;
use super::trust_show::{judged, wishes};
use crate::trust::{Consent, Trust};

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let consents = Trust::new(engine.home().root()).list()?.into_iter();
    let entry = |Consent { project, hash, setting, file, content, at }| {
        let at = Moment(at);
        Entry { project, hash, setting, file, content, at }
    };
    let here = engine.repository().is_ok().then(|| judged(engine, &wishes(engine, None)?)).transpose()?;
    Ok(Answer { trusted: consents.map(entry).collect(), here })
}
