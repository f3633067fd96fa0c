//! An agent without a terminal: what it says and does, with a line to type prompts into.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use fleet_api::verbs::run_logs::{Answer, Request};
use fleet_api::verbs::run_prompt;
use fleet_core::message::MessageKind;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_engine::terminal::{DetachKey, LineKeys, TypedLine};
use tokio::time::sleep;

use super::Context;
use crate::Done;
use crate::commands::logs::Renderer;
use crate::output::{Stdout, dim};

/// How long a page of the log is waited for.
const WAIT_SECONDS: u32 = 20;
/// As many lines of what came before are shown.
const LINES_BEFORE: usize = 40;
const RETRY_DELAY: Duration = Duration::from_millis(200);

pub(super) async fn follow(context: &Context, id: &str, read_only: bool, detach: DetachKey) -> Done {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Problem::new(Code::Usage, "`fleet attach` needs a terminal")
            .hint(format!("`fleet logs {} --follow` prints what the agent does", escaped(id))));
    }
    let how = if read_only { "" } else { "type a prompt and press Enter; " };
    context.output.note(&dim(&format!("this agent has no terminal: {how}{detach} detaches")));
    let mut keys = LineKeys::listen(detach).map_err(|error| Problem::new(Code::Io, error.to_string()))?;
    let mut renderer = Renderer::default();
    let mut request = Request { id: id.to_owned(), ..Request::default() };
    let mut is_first = true;
    let end = loop {
        let page = tokio::select! {
            page = context.call(request.clone()) => page?,
            typed = keys.next() => {
                match typed {
                    TypedLine::Line(text) if !read_only => send(context, id, &text, &keys).await?,
                    TypedLine::Line(_) | TypedLine::Changed => {}
                    TypedLine::Detached => break None,
                }
                show_line(&keys, read_only)?;
                continue;
            }
        };
        show(&page, &mut renderer, &keys, (is_first, read_only))?;
        is_first &= page.more;
        if page.end.is_some() && !page.more {
            break page.end;
        }
        (request.after, request.wait_seconds) =
            (Some(page.next), Some(if page.more { 0 } else { WAIT_SECONDS }));
        if page.entries.is_empty() && !page.more {
            sleep(RETRY_DELAY).await;
        }
    };
    drop(keys);
    let id = escaped(id);
    context.output.note(&match end {
        Some(_) => format!("\nthe agent has ended: `fleet show {id}` shows what it did"),
        None => format!("\ndetached; the agent keeps running: `fleet attach {id}` returns"),
    });
    Ok(())
}

async fn send(context: &Context, id: &str, text: &str, keys: &LineKeys) -> Done {
    if text.trim().is_empty() {
        return Ok(());
    }
    let request = run_prompt::Request { id: id.to_owned(), text: text.to_owned(), kind: MessageKind::Prompt };
    let told = match context.call(request).await {
        Ok(_) => format!("{} {}", dim("you:"), escaped(text)),
        Err(problem) => problem.to_string(),
    };
    write_lines(&[told], keys, false)
}

fn show(
    page: &Answer,
    renderer: &mut Renderer,
    keys: &LineKeys,
    (is_first, read_only): (bool, bool),
) -> Done {
    let mut lines: Vec<String> = page.entries.iter().flat_map(|entry| renderer.lines(entry)).collect();
    if is_first {
        let first = lines.len().saturating_sub(LINES_BEFORE);
        lines.drain(..first);
    }
    write_lines(&lines, keys, read_only)
}

/// Writes lines above the one that is typed.
fn write_lines(lines: &[String], keys: &LineKeys, read_only: bool) -> Done {
    for line in lines {
        write(&format!("\r\x1b[K{line}\r\n"))?;
    }
    show_line(keys, read_only)
}

fn show_line(keys: &LineKeys, read_only: bool) -> Done {
    let line = if read_only { String::new() } else { format!("{} {}", dim("prompt>"), escaped(keys.line())) };
    write(&format!("\r\x1b[K{line}"))
}

fn write(text: &str) -> Done {
    let written = Stdout.write_all(text.as_bytes()).and_then(|()| Stdout.flush());
    written.map_err(|error| Problem::new(Code::Io, format!("cannot write to the terminal: {error}")))
}
