use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::task_import::Request;

use super::super::Context;
use super::super::text_input::read_path;
use crate::Done;
use crate::output::count;

/// Import tasks from JSON lines: all or none
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
not_before, meta, batch, read_only, mode, id, state.";

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
            format!("{verb} {}", count(imported.ids.len(), "task"))
        })
    }
}
