//! Phrases that several commands print.

use fleet_core::text::escaped;

use super::{dim, terminal};

/// `claude/opus`; `-` stands for an agent that nobody named.
pub(crate) fn agent_and_model(agent: Option<&str>, model: Option<&str>) -> String {
    match (agent, model) {
        (agent, Some(model)) => format!("{}/{model}", agent.unwrap_or("-")),
        (agent, None) => agent.unwrap_or_default().to_owned(),
    }
}

/// What to do next, one thing on each line.
pub(crate) fn arrows(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| format!("  {} {}", dim("→"), escaped(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Long lines of a note, broken between words to fit the terminal; what goes elsewhere stays as it is.
pub(crate) fn wrapped(text: &str) -> String {
    let Some((width, _)) = terminal() else { return text.to_owned() };
    text.lines().map(|line| broken(line, width)).collect::<Vec<_>>().join("\n")
}

fn broken(line: &str, width: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    let (mut out, mut column) = (String::new(), 0);
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            out.push('\n');
            column = 0;
        }
        let space = if column == 0 { indent } else { 1 };
        out.push_str(&" ".repeat(space));
        out.push_str(word);
        column += space + length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_keep_their_indent() {
        assert_eq!(broken("  one two three", 9), "  one two\n  three");
        assert_eq!(broken("one two", 7), "one two");
        assert_eq!(broken("averylongword b", 5), "averylongword\nb");
        assert_eq!(broken("", 5), "");
    }
}
