use clap::Args;
use fleet_api::verbs::workflow_result::{Answer, Request, StageResult};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::show::result as run_result;
use crate::Done;
use crate::output::{arrows, dim, paint_status, strong};

/// Show what came of a workflow: the results of its last stages, and how to take them
///
/// The last stages are those that no other needs. Where the last one is a judge that chose, what it chose is the result.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 70)]
pub(crate) struct ResultCommand {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet workflow result w0skybd1
  fleet workflow result w0skybd1 --stage review
  fleet workflow result w0skybd1 --json | jq -r '.branches[]'";

impl ResultCommand {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let found = context.call(self.request).await?;
        context.output.show(&found, || render(&found))
    }
}

fn render(found: &Answer) -> String {
    let workflow = &found.workflow;
    let why = workflow.why.as_deref().map(|why| format!("  {}", escaped(why))).unwrap_or_default();
    let head = format!(
        "{}  {}  {}{why}",
        strong(workflow.id.as_str()),
        paint_status(workflow.state.as_str()),
        strong(&escaped(&workflow.name))
    );
    let winner = found.winner.as_ref().map(|winner| {
        let branch = winner.branch.as_deref().map(|branch| format!(", on {}", escaped(branch)));
        format!(
            "{} chose {}{}",
            escaped(&winner.by),
            strong(&escaped(&winner.stage)),
            branch.unwrap_or_default()
        )
    });
    let next = (!found.next.is_empty()).then(|| arrows(&found.next));
    let results = found.results.iter().map(stage);
    [head].into_iter().chain(results).chain(winner).chain(next).collect::<Vec<_>>().join("\n\n")
}

fn stage(one: &StageResult) -> String {
    let why = one.why.as_deref().map(|why| format!("  {}", escaped(why))).unwrap_or_default();
    let head = format!("{}  {}{why}", strong(&escaped(&one.name)), paint_status(one.state.as_str()));
    let branch = one.branch.as_deref().map(|branch| format!("{} {}", dim("branch"), escaped(branch)));
    let result = one.result.as_ref().map(run_result::render);
    [Some(head), branch, result].into_iter().flatten().collect::<Vec<_>>().join("\n")
}
