//! What an agent says and does, as people read it. Nothing of it can drive their terminal.

use fleet_core::event::{AgentEvent, When};
use fleet_core::report::Report;
use fleet_core::text::{escaped, escaped_lines, shortened};
use fleet_core::time::Span;
use fleet_engine::clock;

use crate::output::{alarm, dim, strong, warn};

/// A longer line is cut: nobody reads it to its end.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// At most this many lines of a tool's answer are shown.
const MOST_OF_A_TOOL: usize = 5;

/// At least this much of what was said is remembered: more than any last message.
const REMEMBERED: usize = 512 * 1024;

/// Remembers what was said, because many agents repeat their last message, or all of it, at their end.
#[derive(Debug, Default)]
pub(crate) struct Renderer {
    /// Without white space: what came line by line may be repeated as one text.
    said: String,
    /// A fenced block of JSON that may be the report of the agent, as far as it came.
    block: Vec<String>,
}

/// A report is shorter.
const LONGEST_REPORT: usize = 500;

impl Renderer {
    /// The lines for an event; none for what only matters to programs.
    pub(crate) fn lines(&mut self, event: &AgentEvent) -> Vec<String> {
        match event {
            AgentEvent::Text { text } => {
                self.remember(text);
                self.without_report(text)
            }
            AgentEvent::Ended { text: Some(text) } if !self.was_said(text) => self.without_report(text),
            _ => self.rest().into_iter().chain(other_lines(event)).collect(),
        }
    }

    /// A report is for codefleet: its summary is enough for people. Agents that print lines say it line by line.
    fn without_report(&mut self, text: &str) -> Vec<String> {
        let mut shown = Vec::new();
        for line in painted(text, ToOwned::to_owned) {
            if self.block.is_empty() && line.trim() != "```json" {
                shown.push(line);
                continue;
            }
            let is_end = !self.block.is_empty() && line.trim() == "```";
            self.block.push(line);
            if is_end || self.block.len() > LONGEST_REPORT {
                shown.extend(match Report::find(&self.block.join("\n")) {
                    Some(report) => painted(&format!("reported {}: {}", report.status, report.summary), dim),
                    None => self.block.clone(),
                });
                self.block.clear();
            }
        }
        shown
    }

    /// What was held back because it could have become a report.
    pub(super) fn rest(&mut self) -> Vec<String> {
        std::mem::take(&mut self.block)
    }

    fn remember(&mut self, text: &str) {
        self.said.extend(text.split_whitespace());
        // Twice the limit, so that not every line moves all of it.
        if self.said.len() > 2 * REMEMBERED {
            let start = self.said.floor_char_boundary(self.said.len() - REMEMBERED);
            self.said.drain(..start);
        }
    }

    /// Whether the last that was said ends with this text.
    fn was_said(&self, text: &str) -> bool {
        self.said.ends_with(&text.split_whitespace().collect::<String>())
    }
}

fn other_lines(event: &AgentEvent) -> Vec<String> {
    match event {
        AgentEvent::Reasoning { text } => painted(text, dim),
        AgentEvent::ToolCall { name, summary, files, .. } => vec![tool(name, summary, files)],
        AgentEvent::ToolResult { ok, summary, .. } => result(*ok, summary),
        AgentEvent::Error { reason, text } => painted(&format!("error: {text} ({reason})"), alarm),
        AgentEvent::Question { text } => painted(&format!("question: {text}"), strong),
        AgentEvent::Raw { text, cut, .. } => {
            let more = if *cut { dim(" … (more of it with --raw)") } else { String::new() };
            vec![format!("{}{more}", line(text))]
        }
        AgentEvent::Gap { bytes } => vec![dim(&gap(*bytes))],
        _ => trouble(event).map(|text| painted(&text, warn)).unwrap_or_default(),
    }
}

/// The text of an event that logs show as trouble: the agent waits, was refused something, or retries.
pub(super) fn trouble(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::RateLimit { until, text } => Some(format!("{text}{}", pause(*until))),
        AgentEvent::Denied { tool, text } => Some(format!("{tool} was denied: {text}")),
        _ => event.headline().filter(|_| event.is_trouble()).map(ToOwned::to_owned),
    }
}

fn pause(until: Option<When>) -> String {
    match until {
        Some(When::At(at)) => format!(" (until {})", clock::local(at)),
        Some(When::Local(time)) => format!(" (until {time})"),
        Some(When::After(span)) => format!(" (for {})", Span(span)),
        None => String::new(),
    }
}

/// What is shown in the place of bytes that were not kept.
pub(super) fn gap(bytes: u64) -> String {
    format!("[fleet: {bytes} bytes were not kept]")
}

fn painted(text: &str, paint: fn(&str) -> String) -> Vec<String> {
    escaped_lines(text.trim_end()).lines().map(|line| paint(&shortened(line, MAX_TEXT_BYTES))).collect()
}

fn line(text: &str) -> String {
    shortened(&escaped(text), MAX_TEXT_BYTES).into_owned()
}

fn tool(name: &str, summary: &str, files: &[String]) -> String {
    // Most summaries name the file already.
    let files: Vec<&str> = files.iter().map(String::as_str).filter(|file| !summary.contains(file)).collect();
    let rest = [summary, &files.join(" ")].join(" ");
    format!("{} {} {}", dim("▸"), strong(&line(name)), line(rest.trim())).trim_end().to_owned()
}

fn result(ok: bool, summary: &str) -> Vec<String> {
    let (sign, paint): (_, fn(&str) -> String) = if ok { ("✓", dim) } else { ("✗", alarm) };
    let mut lines = painted(summary, paint);
    let more = lines.len().saturating_sub(MOST_OF_A_TOOL);
    lines.truncate(MOST_OF_A_TOOL);
    if more > 0 {
        lines.push(dim(&format!("… {more} more lines: --json shows them")));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    let indented = |(at, line): (usize, String)| match at {
        0 => format!("  {} {line}", paint(sign)).trim_end().to_owned(),
        _ => format!("    {line}"),
    };
    lines.into_iter().enumerate().map(indented).collect()
}

#[cfg(test)]
mod tests {
    use fleet_core::event::Stream;

    use super::*;

    fn lines(event: &AgentEvent) -> Vec<String> {
        Renderer::default().lines(event)
    }

    fn raw(text: &str) -> AgentEvent {
        AgentEvent::Raw { stream: Stream::Out, text: text.to_owned(), cut: false }
    }

    fn result_of(ok: bool, summary: &str) -> AgentEvent {
        AgentEvent::ToolResult { id: String::new(), ok, summary: summary.to_owned(), files: Vec::new() }
    }

    #[test]
    fn nothing_that_an_agent_prints_reaches_the_terminal() {
        let text = "\u{1b}[2Ja\u{202e}\r\nb".to_owned();
        assert_eq!(lines(&AgentEvent::Text { text: text.clone() }), [r"\u{1b}[2Ja\u{202e}\r", "b"]);
        assert_eq!(lines(&raw(&text)), [r"\u{1b}[2Ja\u{202e}\r\nb"]);
        let tool = AgentEvent::ToolCall {
            id: String::new(),
            name: "\u{7}".to_owned(),
            summary: text.clone(),
            files: vec!["\u{8}".to_owned()],
        };
        assert_eq!(lines(&tool), [r"▸ \u{7} \u{1b}[2Ja\u{202e}\r\nb \u{8}"]);
        assert_eq!(lines(&result_of(true, &text))[0], r"  ✓ \u{1b}[2Ja\u{202e}\r");
    }

    #[test]
    fn long_answers_of_tools_are_cut_and_empty_ones_shown() {
        let result = |summary: &str| result_of(false, summary);
        assert_eq!(lines(&result("a\nb")), ["  ✗ a", "    b"]);
        assert_eq!(lines(&result(&"x\n".repeat(9))).last().unwrap(), "    … 4 more lines: --json shows them");
        assert_eq!(lines(&result("")), ["  ✗"]);
    }

    #[test]
    fn a_report_is_shown_as_its_summary_and_other_json_as_it_is() {
        let report = "Done.\n```json\n{\"status\": \"completed\", \"summary\": \"All of it\"}\n```\nBye.";
        let text = |text: &str| AgentEvent::Text { text: text.to_owned() };
        let shown = ["Done.", "reported completed: All of it", "Bye."];
        let plain = |lines: Vec<String>| {
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(plain(lines(&text(report))), shown);
        let mut renderer = Renderer::default();
        let by_line: Vec<String> = report.lines().flat_map(|line| renderer.lines(&text(line))).collect();
        assert_eq!(plain(by_line), shown);
        let other = "```json\n{\"a\": 1}\n```";
        assert_eq!(lines(&text(other)).join("\n"), other);
        let mut renderer = Renderer::default();
        assert!(renderer.lines(&text("```json\n{")).is_empty(), "it may become a report");
        assert_eq!(renderer.rest(), ["```json", "{"]);
    }

    #[test]
    fn last_words_are_not_repeated() {
        let mut renderer = Renderer::default();
        let (text, end) =
            ("I am done.".to_owned(), |text: &str| AgentEvent::Ended { text: Some(text.to_owned()) });
        renderer.lines(&AgentEvent::Text { text });
        assert!(renderer.lines(&end("I am done.")).is_empty());
        assert_eq!(renderer.lines(&end("Something else")), ["Something else"]);
    }

    #[test]
    fn what_came_line_by_line_is_not_repeated_as_one_text() {
        let mut renderer = Renderer::default();
        for line in ["  one", "two", "three"] {
            renderer.lines(&AgentEvent::Text { text: line.to_owned() });
        }
        assert!(renderer.lines(&AgentEvent::Ended { text: Some("one\n\ntwo\nthree".to_owned()) }).is_empty());
        assert!(!renderer.lines(&AgentEvent::Ended { text: Some("one\nthree".to_owned()) }).is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded_and_enough_for_the_longest_last_message() {
        let mut renderer = Renderer::default();
        for _ in 0..100 {
            renderer.remember(&"漢".repeat(10_000));
        }
        assert!(renderer.said.len() <= 2 * REMEMBERED);
        assert!(renderer.was_said(&"漢".repeat(256 * 1024 / 3)));
    }
}
