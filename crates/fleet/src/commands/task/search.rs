use clap::Args;
use fleet_api::verbs::task_search::{Answer, Hit, Request};

use super::super::Context;
use crate::Done;
use crate::output::{Column, count, dim, paint_status, table};

/// Search the queue: the tasks that have what you look for, the best first
///
/// Looks for words, beginnings of words and paths in titles, descriptions, labels and file scopes, and ranks what it
/// finds: rare words count more than common ones, titles more than descriptions. The newest 2000 tasks are looked at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 40)]
pub(crate) struct Search {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet task search login test
  fleet task search src/parser --status done,failed
  fleet task search retry --label bug --json | jq -r '.tasks[0].id'";

impl Search {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { query: self.query.join(" "), ..self.request };
        let found = context.call(request).await?;
        if found.tasks.is_empty() && !context.output.is_json() {
            context.output.note(&format!(
                "nothing found among {}; --status done looks at finished ones, -A at other repositories",
                count(found.looked_at, "task")
            ));
            return Ok(());
        }
        context.output.show(&found, || render(&found))?;
        if let Some(cursor) = &found.next_cursor {
            context.output.note(&dim(&format!("there are more: --limit N, or --cursor {cursor}")));
        }
        if found.more {
            context.output.note(&dim(&older(found.looked_at)));
        }
        Ok(())
    }
}

/// What a search says when there was too much to look at.
pub(super) fn older(looked_at: usize) -> String {
    format!("only the newest {looked_at} tasks were looked at; --status or --label looks further back")
}

fn render(found: &Answer) -> String {
    let column = |cell: fn(&Hit) -> String| found.tasks.iter().map(cell).collect::<Vec<_>>();
    table(vec![
        Column::new("ID", column(|hit| hit.task.id.to_string())),
        Column::new("SCORE", column(|hit| hit.score.map(|score| format!("{score:.2}")).unwrap_or_default())),
        Column::new("PRI", column(|hit| hit.task.priority.to_string())),
        Column::new("STATUS", column(|hit| hit.task.status.clone())).painted(paint_status),
        Column::new("TITLE", column(|hit| hit.task.title.clone())).giving_way(),
        Column::new("FOUND", column(|hit| hit.matched.join(", "))).painted(dim).giving_way(),
    ])
}
