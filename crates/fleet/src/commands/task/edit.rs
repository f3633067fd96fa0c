//! `fleet task edit`

use clap::Args;
use fleet_api::verbs::task_edit::{Answer, Request};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::text_input::TextInput;
use crate::Done;
use crate::output::{dim, paint_status, strong};

/// Change what a task is
///
/// While an agent works on it, only priority, labels, retries and metadata can change.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 80)]
pub(crate) struct Edit {
    /// The task
    id: String,
    #[command(flatten)]
    text: TextInput,
    /// What is to be done, in one line
    #[arg(short, long)]
    title: Option<String>,
    /// How urgent: 5 is served first, 1 last
    #[arg(short, long, value_name = "1-5", allow_negative_numbers = true)]
    priority: Option<i64>,
    /// Add a label; may be repeated
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,
    /// Take a label away; may be repeated
    #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
    remove_labels: Vec<String>,
    /// The files that it will touch: replaces all earlier ones; may be repeated
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,
    /// Which agent does it
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Which model the agent uses
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Where the work starts
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// The branch that the work goes to
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// What a run may use at most: time=30m, idle=10m, tokens=200k, usd=2.50, or e.g. usd=none; may be repeated
    #[arg(long = "limit", value_name = "LIMIT")]
    limits: Vec<String>,
    /// How often a failed run is tried again
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Do not start it earlier: 2h (from now), 14:30, 2026-12-24, or RFC 3339
    #[arg(long, value_name = "TIME")]
    not_before: Option<String>,
    /// How big it is: trivial, small, medium, large, xl
    #[arg(long, value_name = "SIZE")]
    complexity: Option<String>,
    /// Set an entry; `KEY=` takes it away; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// It is only to look: nothing has to change for it to be done
    #[arg(long)]
    read_only: bool,
    /// Empty a field: description, labels, scope, complexity, agent, model, base, branch, limits, not-before, meta,
    /// batch, read-only
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    clear: Vec<String>,
}

const EXAMPLES: &str = "Examples:
  fleet task edit t0m3k9 -p 5 --label urgent
  fleet task edit t0m3k9 --clear not-before,agent
  fleet task edit t0m3k9 - < notes.md";

impl Edit {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request {
            id: self.id,
            title: self.title,
            description: self.text.read()?,
            priority: self.priority,
            add_labels: self.labels,
            remove_labels: self.remove_labels,
            scope: self.scope,
            complexity: self.complexity,
            agent: self.agent,
            model: self.model,
            base: self.base,
            branch: self.branch,
            limits: self.limits,
            retries: self.retries,
            not_before: self.not_before,
            meta: self.meta,
            read_only: self.read_only,
            clear: self.clear,
        };
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
