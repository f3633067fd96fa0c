use clap::Args;
use fleet_api::verbs::inbox::{Answer, Request};
use fleet_api::views::NeedsYou;
use fleet_core::text::{escaped, escaped_lines};
use fleet_core::time::Millis;

use super::Context;
use crate::Done;
use crate::output::{ago, arrows, dim, paint_status, print, print_json, strong};

/// Show what waits for you: questions, dialogs, failures
///
/// Questions and dialogs come first, the oldest of them first. `fleet answer ID` answers a question.
#[derive(Debug, Args)]
#[command(display_order = 232)]
pub(crate) struct Inbox {
    /// Keep running, and show it again when it changes
    #[arg(short, long)]
    watch: bool,
}

/// How long a call waits before it asks again.
const WAIT_SECONDS: u32 = 60;

impl Inbox {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let mut shown = context.call(Request::default()).await?;
        if !self.watch {
            return context.output.show(&shown, || render(&shown, context.engine.now()));
        }
        loop {
            if context.output.is_json() {
                print_json(&shown)?;
            } else {
                print(&render(&shown, context.engine.now()))?;
                print("")?;
            }
            let before = shown.next.clone();
            while shown.next == before {
                let request = Request { after: Some(before.clone()), wait_seconds: Some(WAIT_SECONDS) };
                shown = context.call(request).await?;
            }
        }
    }
}

fn render(shown: &Answer, now: Millis) -> String {
    if shown.items.is_empty() {
        return "nothing waits for you".to_owned();
    }
    let mut parts: Vec<String> = shown.items.iter().map(|item| entry(item, now)).collect();
    if shown.more {
        parts.push(dim("there is more: `fleet task list -A --status failed,waiting`"));
    }
    parts.join("\n\n")
}

fn entry(item: &NeedsYou, now: Millis) -> String {
    let since = item.since.map(|since| format!("  {}", dim(&ago(since.0, now)))).unwrap_or_default();
    let id = item.question.as_ref().map_or(item.task.as_str(), |question| question.id.as_str());
    let head = format!("{}  {}  {}{since}", strong(id), paint_status(&item.status), escaped(&item.branch));
    let mut lines = vec![head];
    match &item.question {
        Some(question) => {
            lines.extend(escaped_lines(&question.text).lines().map(|line| format!("  {line}")));
            for (number, option) in question.options.iter().enumerate() {
                let mark = if question.default.as_ref() == Some(option) { " (default)" } else { "" };
                lines.push(format!("  {} {}{mark}", strong(&(number + 1).to_string()), escaped(option)));
            }
        }
        None if item.why.is_empty() => lines.push(format!("  {}", escaped(&item.title))),
        None => lines.push(format!("  {}: {}", escaped(&item.title), escaped(&item.why))),
    }
    lines.push(arrows(std::slice::from_ref(&item.next)));
    lines.join("\n")
}
