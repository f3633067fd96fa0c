//! Colours: few, and the same meaning everywhere.

use anstyle::{AnsiColor, Color, Style};

pub(super) const RED: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Red))).bold();
pub(super) const BOLD: Style = Style::new().bold();

pub(super) const fn colored(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

pub(crate) fn dim(text: &str) -> String {
    paint(Style::new().dimmed(), text)
}

pub(crate) fn strong(text: &str) -> String {
    paint(BOLD, text)
}

pub(crate) fn alarm(text: &str) -> String {
    paint(RED, text)
}

pub(crate) fn warn(text: &str) -> String {
    paint(colored(AnsiColor::Yellow), text)
}

/// A status in the colour that tells whether somebody has to act.
pub(crate) fn paint_status(status: &str) -> String {
    let style = match status {
        "running" | "working" | "preparing" | "finishing" => colored(AnsiColor::Blue),
        "done" | "succeeded" => colored(AnsiColor::Green),
        "failed" | "timed_out" | "lost" => RED,
        "waiting" | "asked" | "asked a question" | "asks" | "needs permission" => colored(AnsiColor::Magenta),
        "ready" => colored(AnsiColor::Cyan),
        "blocked" | "scheduled" | "held" | "cancelling" => colored(AnsiColor::Yellow),
        _ => Style::new().dimmed(),
    };
    paint(style, status)
}

/// Colours only where standard output shows them; what goes to standard error is looked at once more there.
pub(super) fn paint(style: Style, text: &str) -> String {
    if super::is_colored() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
