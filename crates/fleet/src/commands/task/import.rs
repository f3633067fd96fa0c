use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::task_import::Request;

use super::super::Context;
use super::super::text_input::read_path;
use crate::Done;
use crate::output::count;

/// Import tasks, or issues of another tracker: all or none
///
/// Reads JSON lines, and what beads, GitHub, GitLab and Linear export, and Markdown checklists. An issue is imported once: its
/// id in the other tracker is kept as metadata (`external`), and dependencies are kept. Closed issues become finished tasks,
/// those that nobody should work on yet are held.
#[derive(Debug, Args)]
#[command(after_help = FORMAT)]
#[command(display_order = 150)]
pub(crate) struct Import {
    /// The file (`-` is standard input)
    file: PathBuf,
    #[command(flatten)]
    request: Request,
}

const FORMAT: &str = "A line is a JSON object. Only `title` is required:
  {\"key\": \"api\", \"title\": \"Write the API\", \"priority\": 4, \"labels\": [\"api\"]}
  {\"title\": \"Document the API\", \"after\": [\"api\"], \"description\": \"…\", \"agent\": \"codex\"}
`after` names keys of the file, or ids of tasks that exist. The other fields are those that
`fleet task export` writes: description, scope, complexity, model, base, branch, limits, retry,
not_before, meta, batch, read_only, mode, id, state.

Examples:
  gh issue list --state all --json number,title,body,state,labels,url | fleet task import -
  bd export | fleet task import - --dry-run
  fleet task import TODO.md";

impl Import {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let text = read_path(&self.file)?;
        let lines = text.lines().count();
        if lines > 5_000 {
            context.output.note(&format!("importing {} …", count(lines, "line")));
        }
        let request = Request { text, ..self.request };
        let imported = context.call(request).await?;
        context.work_was_queued().await;
        context.output.show(&imported, || {
            let verb = if imported.dry_run { "would import" } else { "imported" };
            let known = match imported.skipped {
                0 => String::new(),
                number => format!("; {} imported before", count(number, "issue")),
            };
            format!("{verb} {}{known}", count(imported.ids.len(), "task"))
        })
    }
}
