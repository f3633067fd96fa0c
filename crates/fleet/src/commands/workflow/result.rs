use fleet_api::verbs::workflow_result::{Answer, StageResult};
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use super::super::show::result as run_result;
use crate::output::{arrows, dim, paint_status, strong};

command! {
    /// Show the results of a workflow, and how to merge them
    ///
    /// The last stages are those that no other needs. If the last one is a judge, its choice is the result.
    #[command(after_help = EXAMPLES)]
    #[command(display_order = 70)]
    ResultCommand(workflow_result) shows render
}

const EXAMPLES: &str = "Examples:
  fleet workflow result w0skybd1
  fleet workflow result w0skybd1 --stage review
  fleet workflow result w0skybd1 --json | jq -r '.branches[]'";

fn render(found: &Answer, _: Millis) -> String {
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
