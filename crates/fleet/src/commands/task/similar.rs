use clap::Args;
use fleet_api::verbs::task_find;
use fleet_api::verbs::task_similar::{Request, Similar as Found, SimilarTo};

use super::super::Context;
use super::search::older;
use crate::Done;
use crate::output::{columns, count, dim, paint_status, table};

/// Find near-duplicates of a task or a text
///
/// Compares words, titles letter by letter, and paths, among open and finished tasks. A score of 1 means identical;
/// above about 0.7, near-duplicates; below 0.4, little in common. It compares words, not meanings: look at what they
/// share before you act on it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 50)]
pub(crate) struct Similar {
    /// A task, by its id or its branch, or a text
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
        let of = match self.of.as_slice() {
            [one] => named(context, one).await,
            several => SimilarTo::Text(several.join(" ")),
        };
        let found = context.call(Request { of, ..self.request }).await?;
        let many = count(found.looked_at, "task");
        let empty = format!("no near-duplicates among {many}; --threshold 0.2 shows the closest");
        let empty = found.similar.is_empty().then_some(empty.as_str());
        let more = found.more.then(|| older(found.looked_at));
        context.output.show_list(&found, empty, || rows(&found.similar), more)
    }
}

/// A single word is a task, if one has such an id or branch.
async fn named(context: &Context, word: &str) -> SimilarTo {
    match context.call(task_find::Request { id: word.to_owned() }).await {
        Ok(found) => SimilarTo::Task(found.task.to_string()),
        Err(_) => SimilarTo::guess(word.to_owned()),
    }
}

pub(super) fn rows(similar: &[Found]) -> String {
    let column = columns(similar);
    table(vec![
        column("ID", &|found| found.task.id.to_string()),
        column("SCORE", &|found| format!("{:.2}", found.score)),
        column("STATUS", &|found| found.task.status.clone()).painted(paint_status),
        column("TITLE", &|found| found.task.title.clone()).giving_way(),
        column("SHARED", &shared).painted(dim).giving_way(),
    ])
}

fn shared(found: &Found) -> String {
    [&found.shared_paths[..], &found.shared_words[..]].concat().join(", ")
}
