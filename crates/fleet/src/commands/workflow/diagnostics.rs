//! What is wrong with a file, shown as compilers do.

use fleet_api::views::{Diagnostic, Severity};
use fleet_core::text::escaped;
use unicode_width::UnicodeWidthStr;

use crate::output::{alarm, dim, strong, warn};

/// The place and the sentence, the line with a mark below it, and what to do.
pub(super) fn shown(diagnostic: &Diagnostic) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => alarm("error"),
        Severity::Warning => warn("warning"),
    };
    let mut lines =
        vec![format!("{}: {kind}: {}", strong(&diagnostic.place()), escaped(&diagnostic.message))];
    let margin = diagnostic.line.map_or(0, |line| line.to_string().len().max(3));
    if let (Some(line), Some(source)) = (diagnostic.line, &diagnostic.source) {
        let before: String = source.chars().take(diagnostic.caret).collect();
        // A place behind the end of its line is shown behind its end.
        let missing = diagnostic.caret.saturating_sub(source.chars().count());
        let caret = format!("{}^", " ".repeat(before.width() + missing));
        lines.push(format!(" {} {}", dim(&format!("{line:>margin$} |")), source));
        lines.push(format!(" {} {}", dim(&format!("{:margin$} |", "")), alarm(&caret)));
    }
    lines.extend(diagnostic.help.iter().map(|help| format!("  {} {}", dim("→"), escaped(help))));
    lines.join("\n")
}
