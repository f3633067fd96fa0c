use clap::Args;
use fleet_api::verbs::workflow_cancel::{Cancelled, Request};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::consent::require_consent;
use super::list;
use crate::Done;
use crate::output::{columns, count, dim, paint_status, strong, table};

/// Cancel workflows: start nothing new and stop running stages
///
/// Waits until all their agents have stopped. Their work so far stays on their branches.
#[derive(Debug, Args)]
#[command(display_order = 90)]
pub(crate) struct Cancel {
    #[command(flatten)]
    request: Request,
    /// Do not ask when there are several
    #[arg(short, long)]
    yes: bool,
    /// Do not wait for agents to end
    #[arg(long)]
    no_wait: bool,
}

impl Cancel {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request, yes, no_wait } = self;
        let request = Request { wait: !no_wait, ..request };
        let meant = context.call(Request { dry_run: true, ..request.clone() }).await?.workflows;
        if meant.len() > 1 && !yes {
            let column = columns(&meant);
            context.output.note(&table(vec![
                column("ID", &|one| one.workflow.id.to_string()),
                column("STATE", &|one| one.workflow.state.to_string()).painted(paint_status),
                column("STAGES", &|one| list::progress(&one.workflow)),
                column("NAME", &|one| one.workflow.name.clone()).giving_way(),
            ]));
        }
        let question = format!("Cancel {}?", count(meant.len(), "workflow"));
        if !require_consent(context, yes || meant.len() == 1, &question, "nothing was cancelled")? {
            let nothing = serde_json::json!({ "workflows": [] });
            return context.output.show(&nothing, || "nothing was cancelled".to_owned());
        }
        // What was agreed to, whatever the names may mean by now.
        let ids = meant.iter().map(|one| one.workflow.id.to_string()).collect();
        let answer = context.call(Request { ids, ..request }).await?;
        context
            .output
            .show(&answer, || answer.workflows.iter().map(cancelled_line).collect::<Vec<_>>().join("\n"))?;
        answer.problem().filter(|_| !no_wait).map_or(Ok(()), Err)
    }
}

fn cancelled_line(one: &Cancelled) -> String {
    let head = format!(
        "{}  {}  {}",
        strong(one.workflow.id.as_str()),
        paint_status(one.workflow.state.as_str()),
        escaped(&one.workflow.name)
    );
    let named = |what: &str, names: &[String]| {
        if names.is_empty() { None } else { Some(format!("  {} {}", dim(what), escaped(&names.join(", ")))) }
    };
    let lines = [
        named("stopped:", &one.stopped),
        named("will not start:", &one.unstarted),
        named("was over:", &one.over),
        named("is being stopped:", &one.going_on),
    ];
    [Some(head)].into_iter().chain(lines).flatten().collect::<Vec<_>>().join("\n")
}
