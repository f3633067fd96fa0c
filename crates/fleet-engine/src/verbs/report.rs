//! What an agent says from inside its run: done, failed, a note, how far it is. It speaks for that run only.

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::RunReport;
use fleet_store::ops::{self, Proof};
use serde::Serialize;

use crate::Engine;
use crate::caller::Caller;
use crate::keeper::Token;

/// What was taken down.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The run that it is about.
    pub run: RunId,
    /// What was said.
    pub report: RunReport,
}

/// Takes it down. Which run it is about, and that the caller may speak for it, comes from the environment alone.
pub async fn run(engine: &Engine, report: RunReport) -> Outcome<Response> {
    let environment = engine.environment();
    let (Some(run), Some(token)) = (environment.get("FLEET_RUN")?, environment.get("FLEET_TOKEN")?) else {
        return Err(Problem::new(
            Code::NotInARun,
            "this is not inside a run: FLEET_RUN and FLEET_TOKEN are not set",
        )
        .hint("agents use this command; people use `fleet task cancel ID` or `fleet task edit ID`"));
    };
    let run: RunId = run.parse().map_err(crate::problems::id)?;
    let op = ops::ReportRun {
        run,
        token_hash: proven(engine, run, token)?,
        report: report.clone(),
        now: engine.now(),
    };
    engine.call(op).await?;
    Ok(Response { run, report })
}

/// The hash of the token, if the caller is the agent of that run: whoever found the token elsewhere proves nothing by it.
fn proven(engine: &Engine, run: RunId, token: &str) -> Outcome<String> {
    Ok(match engine.caller()? {
        Caller::Agent { run: own, proof: Proof::Token(hash) } if *own == run => hash.clone(),
        Caller::Agent { run: own, proof: Proof::Seen } if *own == run => Token::given(token).hash(),
        _ => String::new(),
    })
}
