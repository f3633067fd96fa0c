use clap::Args;
use fleet_api::verbs::{run_list, workflow_list};
use fleet_core::problem::Outcome;

use super::Context;
use crate::Done;
use crate::output::print;

/// Print the names that a shell can complete after these words
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct CompleteNames {
    /// The words before the one that is completed, without `fleet`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// As many tasks are offered, newest first.
const MAX_NAMES: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameKind {
    Tasks,
    Batches,
    Workflows,
    Agents,
}

impl CompleteNames {
    /// A shell that asks wants no errors: what cannot be found is not offered.
    pub(crate) async fn run(self, context: &Context) -> Done {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let names = match wanted(&words) {
            None => return Ok(()),
            Some(NameKind::Agents) => agents(context),
            Some(NameKind::Workflows) => workflows(context).await,
            Some(kind) => tasks(context, kind).await,
        };
        print(&names.unwrap_or_default().join("\n"))
    }
}

/// What comes after these words, if it is a name that only the store knows.
fn wanted(words: &[&str]) -> Option<NameKind> {
    match words.last() {
        Some(&"--agent") => return Some(NameKind::Agents),
        Some(&"--batch") => return Some(NameKind::Batches),
        Some(&("--after" | "--base")) => return Some(NameKind::Tasks),
        _ => {}
    }
    let words: Vec<&str> = words.iter().filter(|word| !word.starts_with('-')).copied().collect();
    match words.as_slice() {
        [
            "prompt" | "keep" | "open" | "show" | "why" | "logs" | "log" | "diff" | "undo" | "allow" | "deny"
            | "headless" | "replay",
        ]
        | ["kill" | "resume" | "clean" | "conflicts" | "attach" | "compare", ..]
        | ["task", "show" | "edit" | "similar"]
        | ["task", "cancel" | "retry" | "hold" | "release" | "delete" | "rm" | "order", ..]
        | ["task", "dep", _, ..] => Some(NameKind::Tasks),
        ["workflow" | "wf", "show" | "watch" | "retry" | "result"]
        | ["workflow" | "wf", "cancel" | "clean", ..] => Some(NameKind::Workflows),
        ["agents", "show" | "test" | "pause" | "resume"] => Some(NameKind::Agents),
        _ => None,
    }
}

fn agents(context: &Context) -> Outcome<Vec<String>> {
    Ok(context.engine.agents()?.all().map(|adapter| adapter.name().to_owned()).collect())
}

async fn workflows(context: &Context) -> Outcome<Vec<String>> {
    let request = workflow_list::Request { all: true, limit: Some(MAX_NAMES), ..Default::default() };
    let found = context.call(request).await?.workflows;
    Ok(found.into_iter().flat_map(|workflow| [workflow.id.to_string(), workflow.name]).collect())
}

async fn tasks(context: &Context, kind: NameKind) -> Outcome<Vec<String>> {
    let request =
        run_list::Request { all: true, newest_only: true, limit: Some(MAX_NAMES), ..Default::default() };
    let run_list::Answer { runs, queue, .. } = context.call(request).await?;
    if kind == NameKind::Batches {
        let all = runs.iter().filter_map(|run| run.batch).chain(queue.iter().filter_map(|task| task.batch));
        let mut batches: Vec<String> = all.map(|batch| batch.to_string()).collect();
        batches.dedup();
        return Ok(batches);
    }
    let of_runs = runs.into_iter().flat_map(|listed| {
        let short = listed.run.task.short().to_owned();
        [listed.run.branch, Some(short)]
    });
    let of_queue = queue.into_iter().flat_map(|task| {
        let short = task.id.short().to_owned();
        [task.branch, Some(short)]
    });
    let mut names: Vec<String> = of_runs.chain(of_queue).flatten().collect();
    names.sort();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_completed_depends_on_the_words_before() {
        for (line, expected) in [
            ("show", Some(NameKind::Tasks)),
            ("prompt", Some(NameKind::Tasks)),
            ("prompt login", None),
            ("kill login-A", Some(NameKind::Tasks)),
            ("attach", Some(NameKind::Tasks)),
            ("attach --tmux login-A", Some(NameKind::Tasks)),
            ("compare login-A", Some(NameKind::Tasks)),
            ("allow", Some(NameKind::Tasks)),
            ("allow login-A", None),
            ("deny", Some(NameKind::Tasks)),
            ("headless", Some(NameKind::Tasks)),
            ("replay", Some(NameKind::Tasks)),
            ("kill --batch", Some(NameKind::Batches)),
            ("task cancel -m done", Some(NameKind::Tasks)),
            ("task add title --after", Some(NameKind::Tasks)),
            ("wf show", Some(NameKind::Workflows)),
            ("create x --agent", Some(NameKind::Agents)),
            ("task", None),
            ("", None),
        ] {
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            assert_eq!(wanted(&words), expected, "{line}");
        }
    }
}
