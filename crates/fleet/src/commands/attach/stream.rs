//! An agent without a terminal: what it says and does, with a line to type prompts into.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use fleet_api::verbs::run_logs::{Answer, Request};
use fleet_api::verbs::run_prompt;
use fleet_core::message::MessageKind;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, escaped_lines};
use fleet_engine::terminal::{DetachKey, LineKeys, TypedLine};
use tokio::time::sleep;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Context;
use crate::Done;
use crate::commands::logs::Renderer;
use crate::output::{Stdout, dim};

/// How long a page of the log is waited for.
const WAIT_SECONDS: u32 = 20;
/// As many lines of what came before are shown.
const LINES_BEFORE: usize = 40;
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// The width of a terminal that does not tell it.
const USUAL_WIDTH: usize = 80;
/// What comes before the line that is typed.
const PROMPT: &str = "prompt>";

pub(super) async fn follow(context: &Context, id: &str, read_only: bool, detach: DetachKey) -> Done {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Problem::new(Code::Usage, "`fleet attach` needs a terminal")
            .hint(format!("`fleet logs {} --follow` prints what the agent does", escaped(id))));
    }
    let how = if read_only { "" } else { "type a prompt and press Enter; " };
    context.output.note(&dim(&format!("this agent has no terminal: {how}{detach} detaches")));
    let keys = LineKeys::listen(detach).map_err(|error| Problem::new(Code::Io, error.to_string()))?;
    let followed = Followed { context, id, read_only, keys, renderer: Renderer::default(), is_first: true };
    let has_ended = followed.run().await?;
    let id = escaped(id);
    context.output.note(&if has_ended {
        format!("\nthe agent has ended: `fleet show {id}` shows what it did")
    } else {
        format!("\ndetached; the agent keeps running: `fleet attach {id}` returns")
    });
    Ok(())
}

/// Somebody who follows an agent.
struct Followed<'c> {
    context: &'c Context,
    id: &'c str,
    read_only: bool,
    keys: LineKeys,
    renderer: Renderer,
    /// Whether nothing has been shown yet.
    is_first: bool,
}

impl Followed<'_> {
    /// Whether the agent has ended; otherwise the person has left.
    async fn run(mut self) -> Outcome<bool> {
        let mut request = Request { id: self.id.to_owned(), ..Request::default() };
        loop {
            let page = tokio::select! {
                page = self.context.call(request.clone()) => page?,
                typed = self.keys.next() => match typed {
                    TypedLine::Detached => return Ok(false),
                    TypedLine::Line(text) if !self.read_only => {
                        self.send(&text).await?;
                        continue;
                    }
                    TypedLine::Line(_) | TypedLine::Changed => {
                        self.show_line()?;
                        continue;
                    }
                },
            };
            self.show(&page)?;
            if page.end.is_some() && !page.more {
                return Ok(true);
            }
            (request.after, request.wait_seconds) =
                (Some(page.next), Some(if page.more { 0 } else { WAIT_SECONDS }));
            if page.entries.is_empty() && !page.more {
                sleep(RETRY_DELAY).await;
            }
        }
    }

    async fn send(&self, text: &str) -> Done {
        if text.trim().is_empty() {
            return self.show_line();
        }
        let request =
            run_prompt::Request { id: self.id.to_owned(), text: text.to_owned(), kind: MessageKind::Prompt };
        let told = match self.context.call(request).await {
            Ok(_) => format!("{} {}", dim("you:"), escaped_lines(text)),
            Err(problem) => problem.to_string(),
        };
        self.write_lines(told.lines())
    }

    fn show(&mut self, page: &Answer) -> Done {
        let mut lines: Vec<String> =
            page.entries.iter().flat_map(|entry| self.renderer.lines(entry)).collect();
        if self.is_first {
            let first = lines.len().saturating_sub(LINES_BEFORE);
            lines.drain(..first);
        }
        self.is_first &= page.more;
        self.write_lines(lines.iter().map(String::as_str))
    }

    /// Writes lines above the one that is typed.
    fn write_lines<'l>(&self, lines: impl Iterator<Item = &'l str>) -> Done {
        for line in lines {
            write(&format!("\r\x1b[K{line}\r\n"))?;
        }
        self.show_line()
    }

    fn show_line(&self) -> Done {
        if self.read_only {
            return write("\r\x1b[K");
        }
        let columns = terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        let room = columns.saturating_sub(PROMPT.len() + 2);
        write(&format!("\r\x1b[K{} {}", dim(PROMPT), end_of(self.keys.line(), room)))
    }
}

/// The end of a line, which has to fit: what a terminal wraps cannot be drawn again.
fn end_of(line: &str, columns: usize) -> String {
    let start = line.char_indices().rev().nth(columns).map_or(0, |(start, _)| start);
    let shown = escaped(&line[start..]);
    if start == 0 && shown.width() <= columns {
        return shown.into_owned();
    }
    let Some(mut room) = columns.checked_sub(1) else { return String::new() };
    let fitting = shown.chars().rev().take_while(|character| {
        let width = character.width().unwrap_or(0);
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    });
    let shown: Vec<char> = fitting.collect();
    std::iter::once('…').chain(shown.into_iter().rev()).collect()
}

fn write(text: &str) -> Done {
    let written = Stdout.write_all(text.as_bytes()).and_then(|()| Stdout.flush());
    written.map_err(|error| Problem::new(Code::Io, format!("cannot write to the terminal: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_fits_into_a_line() {
        for (line, columns, shown) in [
            ("short", 20, "short"),
            ("two\nlines", 20, "two\\nlines"),
            ("abcdefgh", 5, "…efgh"),
            ("日本語", 5, "…本語"),
            ("", 5, ""),
            ("abc", 0, ""),
        ] {
            assert_eq!(end_of(line, columns), shown, "{line:?} in {columns}");
        }
    }
}
