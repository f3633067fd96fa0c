use clap::Args;
use fleet_api::verbs::task_search::{Answer, Request};

use super::super::Context;
use crate::Done;
use crate::output::{columns, count, dim, paint_status, table};

/// Search tasks; best match first
///
/// Searches words, prefixes and paths in titles, descriptions, labels and file scopes, and ranks the matches: rare
/// words count more than common ones, titles more than descriptions. Only the newest 2000 tasks are searched.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 40)]
pub(crate) struct Search {
    /// Search terms
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
        let empty = format!(
            "nothing found among {}; --status done looks at finished ones, -A at other repositories",
            count(found.looked_at, "task")
        );
        let empty = found.tasks.is_empty().then_some(empty.as_str());
        let next = found.next_cursor.as_ref();
        let next = next.map(|cursor| format!("there are more: --limit N, or --cursor {cursor}"));
        let more = next.into_iter().chain(found.more.then(|| older(found.looked_at)));
        context.output.show_list(&found, empty, || render(&found), more)
    }
}

/// What a search says when there was too much to look at.
pub(super) fn older(looked_at: usize) -> String {
    format!("only the newest {looked_at} tasks were searched; --status or --label looks further back")
}

fn render(found: &Answer) -> String {
    let column = columns(&found.tasks);
    table(vec![
        column("ID", &|hit| hit.task.id.to_string()),
        column("SCORE", &|hit| hit.score.map(|score| format!("{score:.2}")).unwrap_or_default()),
        column("PRI", &|hit| hit.task.priority.to_string()),
        column("STATUS", &|hit| hit.task.status.clone()).painted(paint_status),
        column("TITLE", &|hit| hit.task.title.clone()).giving_way(),
        column("FOUND", &|hit| hit.matched.join(", ")).painted(dim).giving_way(),
    ])
}
