//! The notices about failed attempts, which Gemini CLI writes to standard error over one or more lines.

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::text::shortened;

use super::trouble::failure_of;
use crate::adapter::AgentFailure;
use crate::common::refusal::number_after;
use crate::common::words;

/// A text that is longer than this is not a notice.
const MAX_LINES: usize = 12;

/// What the last notice ends with.
const LAST: &str = "Max attempts reached";

/// Longer lines are cut.
const LONGEST_LINE: usize = 1024;

/// A notice whose end is not read yet.
#[derive(Debug)]
struct OpenNotice {
    attempt: u32,
    text: String,
    lines: usize,
}

#[derive(Debug, Default)]
pub(super) struct NoticeReader {
    open: Option<OpenNotice>,
}

/// What a notice tells: an event, and why the attempt failed.
pub(super) type RetryEvent = (Option<AgentEvent>, AgentFailure);

impl NoticeReader {
    /// One more line: what it tells, which is nothing while a notice goes on; `None` if it is about something else.
    pub(super) fn line(&mut self, line: &str) -> Option<Vec<RetryEvent>> {
        let line = shortened(line, LONGEST_LINE);
        match (attempt(&line), self.open.take()) {
            (Some(attempt), before) => {
                let mut all: Vec<RetryEvent> = before.as_ref().map(retry_event).into_iter().collect();
                all.extend(self.on(OpenNotice { attempt, text: line.into_owned(), lines: 1 }));
                Some(all)
            }
            (None, Some(notice)) => {
                let text = format!("{}\n{line}", notice.text);
                Some(self.on(OpenNotice { text, lines: notice.lines + 1, ..notice }).into_iter().collect())
            }
            (None, None) => None,
        }
    }

    /// No more lines come.
    pub(super) fn end(&mut self) -> Option<RetryEvent> {
        self.open.take().as_ref().map(retry_event)
    }

    fn on(&mut self, notice: OpenNotice) -> Option<RetryEvent> {
        let is_whole =
            ["Retrying after ", "Retrying with backoff", LAST].iter().any(|end| notice.text.contains(end));
        if is_whole || notice.lines >= MAX_LINES {
            return Some(retry_event(&notice));
        }
        self.open = Some(notice);
        None
    }
}

/// The number of the attempt that failed: `Attempt 1 failed`.
fn attempt(line: &str) -> Option<u32> {
    let (number, _) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
    number.parse().ok()
}

fn retry_event(notice: &OpenNotice) -> RetryEvent {
    let failure = failure_of(&notice.text);
    // There may be other attempts, with another model, so this is no more than a line.
    if notice.text.contains(LAST) {
        return (AgentEvent::raw(Stream::Err, notice.text.as_bytes(), false), failure);
    }
    let wait_ms = number_after(&notice.text, "Retrying after ");
    let text = words::trouble(&notice.text);
    (Some(AgentEvent::Retry { attempt: notice.attempt.checked_add(1), wait_ms, text }), failure)
}

#[cfg(test)]
mod tests {
    use fleet_core::run::Reason;

    use super::*;

    fn read(lines: &str) -> Vec<(Option<u32>, Option<u64>, Reason)> {
        let mut retries = NoticeReader::default();
        let mut notices: Vec<RetryEvent> =
            lines.lines().filter_map(|line| retries.line(line)).flatten().collect();
        notices.extend(retries.end());
        notices
            .into_iter()
            .filter_map(|(event, failure)| match event {
                Some(AgentEvent::Retry { attempt, wait_ms, .. }) => Some((attempt, wait_ms, failure.reason)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn notices_are_read_over_one_or_more_lines() {
        let short = "Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {";
        assert_eq!(read(short), [(Some(2), None, Reason::ProviderOutage)]);
        let long = "Attempt 3 failed: You exceeded your current quota.\n* limit: 10\nPlease retry in 34s.. Retrying after 35000ms...";
        assert_eq!(read(long), [(Some(4), Some(35_000), Reason::RateLimited)]);
        let cut = "Attempt 3 failed: You exceeded your current quota.\n* limit: 10";
        assert_eq!(read(cut), [(Some(4), None, Reason::RateLimited)]);
        let two = format!("{cut}\n{short}");
        assert_eq!(
            read(&two),
            [(Some(4), None, Reason::RateLimited), (Some(2), None, Reason::ProviderOutage)]
        );
        assert_eq!(read("Attempt 5 failed: You exceeded your current quota.\nMax attempts reached"), []);
        assert_eq!(read("Attempt to read failed"), []);
    }

    #[test]
    fn a_notice_without_end_is_not_kept_for_ever() {
        let mut retries = NoticeReader::default();
        assert_eq!(retries.line("Attempt 1 failed: x"), Some(Vec::new()));
        let notices: usize =
            (0..100).filter_map(|_| retries.line(&"y".repeat(10_000))).map(|told| told.len()).sum();
        assert_eq!(notices, 1);
    }
}
