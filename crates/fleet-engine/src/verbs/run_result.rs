use fleet_api::verbs::run_result::{Answer, Request};

use fleet_api::views::RunView;

use super::prelude::*;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let run = engine.run_id(&request.id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    let parsed = detail.result.as_deref().map(serde_json::from_str).transpose();
    let result = parsed.map_err(|error| {
        Problem::new(Code::StoreFailed, format!("the result of run {run} cannot be read: {error}"))
    })?;
    Ok(Answer { run: RunView::from(&detail.run), result })
}
