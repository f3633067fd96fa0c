use std::collections::BTreeMap;

use clap::Args;
use fleet_api::verbs::task_order::{Answer, OrderedTask, Request};
use fleet_core::id::TaskId;
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{columns, dim, paint_status, strong, table};

/// Show the order of open tasks, the longest chain and the bottlenecks
///
/// The order is the one in which a single agent would do them. Tasks of one LEVEL could run together. FREES is how
/// many others wait for a task, directly or not. `*` marks the chain that takes longest, by --complexity: more agents
/// cannot finish sooner. Dependencies that seem to be missing are suggested, never added.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 60)]
pub(crate) struct Order {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet task order
  fleet task order t0skybe7
  fleet task order --json | jq -r '.critical_path[]'";

impl Order {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let order = context.call(self.request).await?;
        let empty = order.order.is_empty().then_some("no open tasks; `fleet task add \"…\"` adds one");
        let more = "there are more open tasks, the newest are shown: `fleet task order ID` looks at others";
        context.output.show_list(&order, empty, || render(&order), order.more.then(|| more.to_owned()))
    }
}

fn render(order: &Answer) -> String {
    let column = columns(&order.order);
    let rows = table(vec![
        column("", &|step| if step.critical { "*" } else { " " }.to_owned()),
        column("ID", &|step| step.id.to_string()),
        column("LEVEL", &|step| step.level.to_string()),
        column("PRI", &|step| step.priority.to_string()),
        column("STATUS", &|step| step.status.clone()).painted(paint_status),
        column("FREES", &frees),
        column("TITLE", &|step| step.title.clone()).giving_way(),
        column("NOTE", &note).painted(dim).giving_way(),
    ]);
    let mut parts = vec![rows];
    let titles: BTreeMap<TaskId, &str> =
        order.order.iter().map(|step| (step.id, step.title.as_str())).collect();
    if order.critical_path.len() > 1 {
        let chain: Vec<String> = order.critical_path.iter().map(|id| name(&titles, *id)).collect();
        parts.push(format!("{}\n  {}", strong("longest chain"), chain.join("\n  ")));
    }
    if !order.suggestions.is_empty() {
        let lines = order.suggestions.iter().map(|suggestion| {
            format!(
                "  fleet task dep add {} {}\n    {}",
                suggestion.task,
                suggestion.on,
                dim(&suggestion.why)
            )
        });
        parts.push(format!("{}\n{}", strong("perhaps missing"), lines.collect::<Vec<_>>().join("\n")));
    }
    parts.join("\n\n")
}

fn name(titles: &BTreeMap<TaskId, &str>, id: TaskId) -> String {
    format!("{id}  {}", escaped(titles.get(&id).copied().unwrap_or_default()))
}

fn frees(step: &OrderedTask) -> String {
    if step.unblocks == 0 { String::new() } else { step.unblocks.to_string() }
}

fn note(step: &OrderedTask) -> String {
    let Some(obstacle) = &step.obstacle else { return String::new() };
    let cause = obstacle.chain.last().map(ToString::to_string).unwrap_or_default();
    if obstacle.needs_a_person {
        format!("after {cause} ({}): will not start", obstacle.state)
    } else {
        format!("after {cause}")
    }
}
