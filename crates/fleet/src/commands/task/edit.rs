use clap::Args;
use fleet_api::verbs::task_edit::{Answer, Request};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::text_input::TextInput;
use crate::Done;
use crate::output::{dim, paint_status, strong};

/// Edit a task
///
/// What you leave out stays as it is; --scope replaces all earlier files. While it runs, only priority, labels, retries and metadata can change.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 80)]
pub(crate) struct Edit {
    #[command(flatten)]
    request: Request,
    #[command(flatten)]
    text: TextInput,
}

const EXAMPLES: &str = "Examples:
  fleet task edit t0m3k9 -p 5 --label urgent
  fleet task edit t0m3k9 --clear not-before,agent
  fleet task edit t0m3k9 - < notes.md";

impl Edit {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let mut request = self.request;
        request.fields.description = self.text.read()?;
        let edited = context.call(request).await?;
        context.output.show(&edited, || line(&edited))
    }
}

fn line(edited: &Answer) -> String {
    let task = &edited.task;
    let changed = if edited.changed.is_empty() {
        "nothing changed".to_owned()
    } else {
        format!("changed {}", edited.changed.join(", "))
    };
    let title = escaped(&task.title);
    format!("{}  {}  {title}  {}", strong(task.id.as_str()), paint_status(&task.status), dim(&changed))
}
