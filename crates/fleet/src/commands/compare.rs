use std::time::Duration;

use clap::Args;
use fleet_api::verbs::compare::{Answer, Compared, Request, Totals};
use fleet_api::verbs::run_diff;
use fleet_core::text::escaped;
use fleet_core::time::Span;

use super::Context;
use super::diff;
use crate::Done;
use crate::output::{agent_and_model, arrows, columns, cost, count, dim, paint_status, strong, table};

/// Compare what several runs did: changes, checks, cost and time
///
/// A table for any number of runs; for exactly two also the difference between their work, from the first to the
/// second. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 132)]
pub(crate) struct Compare {
    #[command(flatten)]
    request: Request,
    /// Of the difference between two, one line for each file
    #[arg(long)]
    stat: bool,
}

const EXAMPLES: &str = "Examples:
  fleet compare login-A                # with all others of its fan-out
  fleet compare login-A login-B
  fleet compare login-A login-B --stat
  fleet compare login-A --json | jq -r '.runs | sort_by(.micro_usd)[].branch'";

impl Compare {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = context.call(self.request).await?;
        context.output.show(&answer, || render(&answer))?;
        let (Some(between), [first, second, ..]) = (&answer.between, answer.runs.as_slice()) else {
            return Ok(());
        };
        if context.output.is_json() {
            return Ok(());
        }
        let what = match between.files {
            0 => "no difference".to_owned(),
            1 => "1 file differs".to_owned(),
            files => format!("{} differ", count(files, "file")),
        };
        context.output.note(&format!(
            "\n{} → {}: {what}",
            strong(&escaped(&name(first))),
            strong(&escaped(&name(second)))
        ));
        let request = run_diff::Request {
            id: first.run.to_string(),
            after: Some(between.diff.clone()),
            ..run_diff::Request::default()
        };
        diff::show_page(context, request, self.stat).await
    }
}

fn render(answer: &Answer) -> String {
    let column = columns(&answer.runs);
    let changes =
        |of: &dyn Fn(&Totals) -> String, one: &Compared| one.changes.as_ref().map(of).unwrap_or_default();
    let rows = table(vec![
        column("ID", &|one| one.task.short().to_owned()),
        column("BRANCH", &|one| one.branch.clone().unwrap_or_default()).naming(),
        column("AGENT", &|one| agent_and_model(Some(&one.agent), one.model.as_deref())).giving_way(),
        column("STATE", &|one| one.state.to_string()).painted(paint_status),
        column("FILES", &|one| changes(&|totals| totals.files.to_string(), one)),
        column("LINES", &|one| changes(&|totals| format!("+{} -{}", totals.added, totals.deleted), one)),
        column("CHECKS", &checks),
        column("COST", &|one| cost(one.micro_usd)),
        column("TIME", &|one| Span(Duration::from_secs(one.seconds)).to_string()).painted(dim),
    ]);
    // Of a fan-out, which all of one title are; others have nothing to drop.
    let is_fanout = answer.runs.windows(2).all(|pair| pair[0].title == pair[1].title);
    let next = is_fanout.then(|| "`fleet keep BRANCH` keeps one and drops the others".to_owned());
    format!("{rows}\n{}", arrows(&next.into_iter().collect::<Vec<_>>()))
}

fn checks(one: &Compared) -> String {
    match (one.checks_passed, one.checks_failed) {
        (0, 0) => String::new(),
        (passed, 0) => format!("{passed} passed"),
        (_, failed) => format!("{failed} failed"),
    }
}

/// As other commands take it.
fn name(one: &Compared) -> String {
    one.branch.clone().unwrap_or_else(|| one.task.to_string())
}
