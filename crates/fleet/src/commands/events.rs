use clap::Args;
use fleet_api::verbs::events::Request;
use fleet_api::views::EventView;
use fleet_core::text::escaped;
use fleet_engine::clock;

use super::Context;
use crate::Done;
use crate::output::{dim, pager, print, strong};

/// Show events; --follow keeps printing new ones
///
/// Events are facts that never change. Their numbers count from one, without gaps, in the order in which things
/// happened. With --json each event is one line.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 270)]
pub(crate) struct Events {
    /// Keep showing events as they happen
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    request: Request,
    /// Show at most N; with --since the oldest, else the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

const EXAMPLES: &str = "Examples:
  fleet events --follow
  fleet events --since 0 --limit 100000 --json | jq -r .kind | sort | uniq -c";

/// One call waits at most this many seconds for the next event.
const WAIT: u32 = 30;

impl Events {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.follow {
            pager::off();
        }
        let mut request = Request { limit: Some(self.limit), ..self.request };
        loop {
            let seen = context.call(request.clone()).await?;
            show(context, &seen.events)?;
            if !self.follow {
                return Ok(());
            }
            request = Request { after: Some(seen.next), limit: None, wait_seconds: Some(WAIT), ..request };
        }
    }
}

fn show(context: &Context, events: &[EventView]) -> Done {
    for event in events {
        if context.output.is_json() {
            print(&serde_json::json!(event).to_string())?;
        } else {
            print(&line(event, &clock::local(event.at.0)))?;
        }
    }
    Ok(())
}

pub(super) fn line(event: &EventView, when: &str) -> String {
    let subject = event.task.map(|task| task.to_string()).unwrap_or_default();
    let details = details(&event.data);
    let seq = event.seq.map(|seq| seq.to_string()).unwrap_or_default();
    let seq = dim(&format!("{seq:>6}"));
    let (when, kind) = (dim(&format!("{when:>7}")), strong(&format!("{:<23}", event.kind)));
    format!("{seq}  {when}  {kind}  {subject:<15}  {details}").trim_end().to_owned()
}

/// The fields of a fact, the empty ones left out.
pub(super) fn details(data: &serde_json::Value) -> String {
    let Some(fields) = data.as_object() else { return String::new() };
    let shown = fields.iter().filter_map(|(name, value)| {
        let text = match value {
            serde_json::Value::Null => return None,
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(list) if list.is_empty() => return None,
            serde_json::Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        };
        Some(format!("{name}={}", escaped(&text)))
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
