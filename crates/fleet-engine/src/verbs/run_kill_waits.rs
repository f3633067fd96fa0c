use fleet_api::verbs::run_kill_waits::{Answer, Request};
use fleet_core::run::RunState;
use fleet_core::task::own_branch;

use super::prelude::*;
use crate::home::Home;
use crate::lost_keeper::LostKeeper;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut waits = Vec::new();
    for id in &request.runs {
        let run = engine.run_id(id).await?;
        let run = engine.call(ops::GetRun { run }).await?.run;
        if run.state.is_live() {
            let name = run.branch.clone().unwrap_or_else(|| own_branch(run.task));
            waits.push(format!("waiting for {name}: {}", what(engine.home(), &run)));
        }
    }
    Ok(Answer { waits })
}

fn what(home: &Home, run: &Run) -> String {
    match (LostKeeper::of(home, run), run.state()) {
        (Some(lost), _) => lost.to_string(),
        (None, RunState::Finishing) => "its work is being saved".to_owned(),
        (None, _) => "its agent is being stopped".to_owned(),
    }
}
