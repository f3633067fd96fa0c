use clap::Args;
use fleet_api::verbs::review::{Answer, Request, ReviewedTask as Reviewed};
use fleet_core::review::ReviewVerdict;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use super::Context;
use crate::Done;
use crate::output::{Column, ago, arrows, columns, cost, dim, strong, table, warn};

/// Review recent work: what was done, whether it can be merged
///
/// Every task that is done or failed is judged by what was seen, not by what its agent says: `mergeable`, `conflicting`
/// (with the current commit), `doubtful` (claims and git differ, or one of its tests failed), `landed`, `unchanged`,
/// `gone` (its branch is not here), `elsewhere` (on another host) or `failed`. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 130)]
pub(crate) struct Review {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet review
  fleet review --since 8h
  fleet review --json | jq -r '.reviews[] | select(.verdict == \"mergeable\") | .branch'";

impl Review {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let found = context.call(self.request).await?;
        let empty = found.reviews.is_empty().then_some(
            "nothing ended in that time; --since 30d looks further back, `fleet list` shows running agents",
        );
        let more = found.more.then(|| "there are more; --limit N shows more".to_owned());
        context.output.show_list(&found, empty, || render(&found, context.engine.now()), more)
    }
}

fn render(found: &Answer, now: Millis) -> String {
    let column = columns(&found.reviews);
    let rows = table(vec![
        column("ID", &|review| review.task.short().to_owned()),
        column("VERDICT", &|review| review.verdict.to_string()).painted(paint),
        Column::new("ENDED", found.reviews.iter().map(|review| ended(review, now))).painted(dim).optional(),
        column("BRANCH", &|review| review.branch.clone().unwrap_or_default()).naming(),
        column("TITLE", &|review| review.title.clone()).giving_way(),
        column("FILES", &|review| number(review.file_count)),
        column("AGENT", &|review| review.agent.clone()).giving_way().optional(),
        column("COST", &|review| cost(review.micro_usd)).optional(),
    ]);
    let is_mergeable = |review: &Reviewed| review.verdict == ReviewVerdict::Mergeable;
    let merge = found.reviews.iter().any(is_mergeable).then(|| arrows(&[MERGE.to_owned()]));
    let next: Vec<String> = found.reviews.iter().filter_map(advice).chain(merge).collect();
    if next.is_empty() { rows } else { format!("{rows}\n\n{}", next.join("\n")) }
}

const MERGE: &str = "mergeable: `fleet diff BRANCH` shows the changes of one, `git merge BRANCH` merges it";

/// What does not fit together, and the first thing to do. What can be merged gets one line for all.
fn advice(review: &Reviewed) -> Option<String> {
    let is_fine =
        matches!(review.verdict, ReviewVerdict::Landed | ReviewVerdict::Mergeable | ReviewVerdict::Unchanged);
    if is_fine && review.remarks.is_empty() {
        return None;
    }
    let mut lines = vec![format!("{}  {}", strong(review.task.short()), escaped(&review.title))];
    let odd = review.remarks.iter().map(|remark| warn(&escaped(remark)));
    let conflicts = (!review.conflicts.is_empty())
        .then(|| warn(&format!("cannot be merged: {}", escaped(&review.conflicts.join(", ")))));
    lines.extend(conflicts.into_iter().chain(odd).map(|line| format!("  {line}")));
    lines.extend(review.next.first().map(|next| arrows(std::slice::from_ref(next))));
    Some(lines.join("\n"))
}

fn paint(verdict: &str) -> String {
    match verdict.trim_end().parse() {
        Ok(ReviewVerdict::Conflicting | ReviewVerdict::Doubtful | ReviewVerdict::Failed) => warn(verdict),
        Ok(ReviewVerdict::Mergeable) => strong(verdict),
        _ => dim(verdict),
    }
}

fn ended(review: &Reviewed, now: Millis) -> String {
    review.ended_at.map(|at| format!("{} ago", ago(at.0, now))).unwrap_or_default()
}

fn number(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}
