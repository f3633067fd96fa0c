//! Resources: what tasks and runs left, to be read by name.
//!
//! Owns their names. Must never give more than a client can hold: of what is long, the end or the beginning is given, and
//! that it is not all.

use fleet_api::Client;
use fleet_api::verbs::run_logs::LogStream;
use fleet_api::verbs::{run_diff, run_result, task_recent};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, shortened};
use rmcp::model::{ListResourcesResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;

use super::call::Call;
use super::tail::{self, LogTail};
use super::worker;

const SCHEME: &str = "fleet://";
/// How many tasks are listed at once, each with the files of its newest run.
const MAX_TASKS: u32 = 25;
/// How many lines of a log are shown by default.
const LINES: u32 = 200;
const MAX_LINES: u32 = 5_000;
/// How much of a prompt or a patch is shown.
const MAX_BYTES: usize = 200_000;

/// What a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResourceKind {
    Task,
    Log { lines: u32 },
    Result,
    Diff,
    Prompt,
}

/// The names that can be made.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, mime: &str| {
        ResourceTemplate::new(format!("{SCHEME}{uri}"), name).with_description(about).with_mime_type(mime)
    };
    vec![
        template("task/{id}", "task", "A worker as it is now", JSON),
        template(
            "run/{id}/log{?lines}",
            "log",
            "The end of what the agent printed; 200 lines, or as many as asked for",
            TEXT,
        ),
        template("run/{id}/result", "result", "What came out of a run", JSON),
        template("run/{id}/diff", "diff", "What a run changed; the beginning of it, if it is long", DIFF),
        template("run/{id}/prompt", "prompt", "The prompt of the agent", MARKDOWN),
    ]
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const DIFF: &str = "text/x-diff";
const MARKDOWN: &str = "text/markdown";

/// The newest tasks, each with what its newest run left, page by page.
pub(super) async fn list(call: &Call, cursor: Option<String>) -> Outcome<ListResourcesResult> {
    let request = task_recent::Request { kinds: Vec::new(), after: cursor, limit: MAX_TASKS };
    let page = fleet_api::call(call, None, &request).await?;
    let mut resources = Vec::new();
    for seen in &page.tasks {
        let title = shortened(&seen.task.title, 80).into_owned();
        resources.push(
            Resource::new(format!("{SCHEME}task/{}", seen.task.id), format!("task: {title}"))
                .with_description(seen.task.status.clone())
                .with_mime_type(JSON),
        );
        let Some(run) = &seen.run else { continue };
        let of_run = |part: &str, mime: &str| {
            Resource::new(format!("{SCHEME}run/{}/{part}", run.id), format!("{part}: {title}"))
                .with_mime_type(mime)
        };
        resources.push(of_run("log", TEXT));
        if seen.is_over() {
            resources.extend([of_run("result", JSON), of_run("diff", DIFF)]);
        }
    }
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page.next.map(|next| next.to_string());
    Ok(result)
}

pub(super) async fn read(call: &Call, uri: &str) -> Outcome<ResourceContents> {
    let (id, part) = parse(uri)?;
    let (text, mime) = if part == ResourceKind::Task {
        let task = worker::seen(call, id).await?;
        (json(&worker::one(call, task).await?)?, JSON)
    } else {
        // What is read is what was checked, by whatever name it was asked for.
        let (_, run) = worker::seen_run(call, id).await?;
        of_run(call, &run, part).await?
    };
    Ok(ResourceContents::text(text, uri).with_mime_type(mime))
}

async fn of_run(client: &dyn Client, id: &str, part: ResourceKind) -> Outcome<(String, &'static str)> {
    Ok(match part {
        ResourceKind::Log { lines } => {
            (tail::read(client, &LogTail { run: id, stream: LogStream::Out, lines }).await?, TEXT)
        }
        ResourceKind::Diff => (diff(client, id).await?, DIFF),
        ResourceKind::Prompt => (prompt(client, id).await?, MARKDOWN),
        ResourceKind::Task | ResourceKind::Result => (json(&result(client, id).await?)?, JSON),
    })
}

fn parse(uri: &str) -> Outcome<(&str, ResourceKind)> {
    let unknown = || {
        let shown = shortened(uri, 120);
        Problem::new(Code::NotHere, format!("there is no resource {:?}", escaped(&shown)))
            .hint("`fleet://task/ID`, `fleet://run/ID/log`, `/result`, `/diff` and `/prompt` can be read")
    };
    let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let mut pieces = path.split('/');
    let found = (pieces.next(), pieces.next().filter(|id| !id.is_empty()), pieces.next(), pieces.next());
    match found {
        (Some("task"), Some(id), None, None) => Ok((id, ResourceKind::Task)),
        (Some("run"), Some(id), Some("log"), None) => {
            let lines = query.and_then(|query| query.strip_prefix("lines="));
            let lines = lines.map(str::parse).transpose().map_err(|_| unknown())?;
            Ok((id, ResourceKind::Log { lines: lines.unwrap_or(LINES).min(MAX_LINES) }))
        }
        (Some("run"), Some(id), Some("result"), None) => Ok((id, ResourceKind::Result)),
        (Some("run"), Some(id), Some("diff"), None) => Ok((id, ResourceKind::Diff)),
        (Some("run"), Some(id), Some("prompt"), None) => Ok((id, ResourceKind::Prompt)),
        _ => Err(unknown()),
    }
}

fn json(value: &impl Serialize) -> Outcome<String> {
    serde_json::to_string_pretty(value).map_err(|error| Problem::new(Code::Internal, error.to_string()))
}

async fn result(client: &dyn Client, id: &str) -> Outcome<fleet_core::outcome::RunResult> {
    let found = fleet_api::call(client, None, &run_result::Request { id: id.to_owned() }).await?;
    found.result.ok_or_else(|| {
        Problem::new(Code::NotHere, format!("run {} has no result yet", found.run.id))
            .hint("`wait` waits for its end")
    })
}

async fn diff(client: &dyn Client, id: &str) -> Outcome<String> {
    let limit = u32::try_from(MAX_BYTES).ok();
    let style = Some(run_diff::Style::Patch);
    let request = run_diff::Request { id: id.to_owned(), style, limit, ..run_diff::Request::default() };
    let page = fleet_api::call(client, None, &request).await?;
    let rest = if page.next.is_some() { "\n… there is more: get_diff gives it in parts …\n" } else { "" };
    Ok(format!("{}{rest}", String::from_utf8_lossy(&page.text.0)))
}

async fn prompt(client: &dyn Client, id: &str) -> Outcome<String> {
    let told = LogTail { run: id, stream: LogStream::Prompt, lines: MAX_LINES };
    let text = tail::read(client, &told).await?;
    if text.is_empty() {
        let message = format!("the prompt of run {id} is not on this machine");
        return Err(Problem::new(Code::NotHere, message));
    }
    Ok(shortened(&text, MAX_BYTES).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_others_refused() {
        for (uri, expected) in [
            ("fleet://task/t1", ("t1", ResourceKind::Task)),
            ("fleet://run/r1/log", ("r1", ResourceKind::Log { lines: LINES })),
            ("fleet://run/r1/log?lines=7", ("r1", ResourceKind::Log { lines: 7 })),
            ("fleet://run/r1/log?lines=999999", ("r1", ResourceKind::Log { lines: MAX_LINES })),
            ("fleet://run/r1/result", ("r1", ResourceKind::Result)),
            ("fleet://run/r1/diff", ("r1", ResourceKind::Diff)),
            ("fleet://run/r1/prompt", ("r1", ResourceKind::Prompt)),
        ] {
            assert_eq!(parse(uri).unwrap(), expected, "{uri}");
        }
        for uri in [
            "",
            "file:///etc/passwd",
            "fleet://",
            "fleet://run/r1",
            "fleet://run//log",
            "fleet://task/t1/x",
            "fleet://run/../log/x",
            "fleet://run/r1/log?lines=x",
        ] {
            assert_eq!(parse(uri).unwrap_err().code, Code::NotHere, "{uri}");
        }
    }
}
