use clap::Args;
use fleet_api::verbs::task_similar::{Answer, Of, Request, Similar as Found};

use super::super::Context;
use super::search::older;
use crate::Done;
use crate::output::{Column, count, dim, paint_status, table};

/// Find tasks that say nearly the same as another one, or as a text
///
/// Compares words, titles letter by letter, and paths, among open and finished tasks. A score of 1 is the same, from
/// about 0.7 on two tasks are nearly the same, below 0.4 they have little in common. It knows words, not meanings: look at
/// what they share before you act on it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 50)]
pub(crate) struct Similar {
    /// The id of a task, or a text
    #[arg(required = true, value_name = "ID|TEXT")]
    of: Vec<String>,
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet task similar t0skybd1
  fleet task similar \"Make the login test stable\" --threshold 0.6
  fleet task add \"Make the login test stable\" --unless-similar";

impl Similar {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let of = if self.of.len() == 1 { Of::guess(self.of.concat()) } else { Of::Text(self.of.join(" ")) };
        let found = context.call(Request { of, ..self.request }).await?;
        if found.similar.is_empty() && !context.output.is_json() {
            let many = count(found.looked_at, "task");
            context
                .output
                .note(&format!("nothing like it among {many}; --threshold 0.2 shows what is nearest"));
            return Ok(());
        }
        context.output.show(&found, || render(&found))?;
        if found.more {
            context.output.note(&dim(&older(found.looked_at)));
        }
        Ok(())
    }
}

fn render(found: &Answer) -> String {
    rows(&found.similar)
}

/// Tasks that are like another one.
pub(super) fn rows(similar: &[Found]) -> String {
    let column = |cell: fn(&Found) -> String| similar.iter().map(cell).collect::<Vec<_>>();
    table(vec![
        Column::new("ID", column(|found| found.task.id.to_string())),
        Column::new("SCORE", column(|found| format!("{:.2}", found.score))),
        Column::new("STATUS", column(|found| found.task.status.clone())).painted(paint_status),
        Column::new("TITLE", column(|found| found.task.title.clone())).giving_way(),
        Column::new("SHARED", column(shared)).painted(dim).giving_way(),
    ])
}

fn shared(found: &Found) -> String {
    [&found.shared_paths[..], &found.shared_words[..]].concat().join(", ")
}
