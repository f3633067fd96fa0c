//! What changes in a text, shown without its neighbours: a line of a user's settings may hold anything, the secrets of
//! other tool servers included. Pure.

use fleet_core::text::escaped;

/// The lines that go with `-` and those that come with `+`; of a line that changes, only the part that does.
pub(super) fn changes(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let (old, new) = (old.join("\n"), new.join("\n"));
    let ((from, to), (begin, end)) = differing_pieces(&old, &new);
    let mut lines = shown('-', &old, from, to);
    lines.extend(shown('+', &new, begin, end));
    lines
}

type ByteSpan = (usize, usize);

/// The pieces by which two texts differ.
fn differing_pieces(old: &str, new: &str) -> (ByteSpan, ByteSpan) {
    if old.is_empty() || new.is_empty() {
        return ((0, old.len()), (0, new.len()));
    }
    let (from, begin) = common_length(old.char_indices(), new.char_indices());
    let backwards = |text: &str| {
        let length = text.len();
        text.char_indices().rev().map(move |(at, c)| (length - at - c.len_utf8(), c)).collect::<Vec<_>>()
    };
    let (less, fewer) =
        common_length(backwards(&old[from..]).into_iter(), backwards(&new[begin..]).into_iter());
    let (gone, came) = (trimmed(old, (from, old.len() - less)), trimmed(new, (begin, new.len() - fewer)));
    match (gone.0 == gone.1, came.0 == came.1) {
        // Where one text only has more, the piece can often be cut in several ways: best at the beginning of a word.
        (true, false) => slide(new, came).map(|came| (gone, came)),
        (false, true) => slide(old, gone).map(|gone| (gone, came)),
        _ => None,
    }
    .unwrap_or_else(|| (quoted(old, gone), quoted(new, came)))
}

/// How far two texts are the same, but for white space: an edit by hand may well break it.
fn common_length(
    one: impl Iterator<Item = (usize, char)>,
    other: impl Iterator<Item = (usize, char)>,
) -> (usize, usize) {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    let mut same = (0, 0);
    loop {
        match (one.peek().copied(), other.peek().copied()) {
            (Some((at, c)), Some((there, d))) if c == d => {
                same = (at + c.len_utf8(), there + d.len_utf8());
                one.next();
                other.next();
            }
            (Some((_, c)), _) if c.is_whitespace() => drop(one.next()),
            (_, Some((_, d))) if d.is_whitespace() => drop(other.next()),
            _ => return same,
        }
    }
}

/// Without white space at its end; nothing, if that is all.
fn trimmed(text: &str, (from, to): ByteSpan) -> ByteSpan {
    (from, from + text[from..to].trim_end().len())
}

/// How far a piece may move to begin with a word.
const MAX_MOVES: usize = 64;

fn slide(text: &str, (mut from, mut to): ByteSpan) -> Option<ByteSpan> {
    for _ in 0..MAX_MOVES {
        if text[from..].starts_with([',', '"', '[', '\n', ' ']) {
            return Some((from, to));
        }
        let (before, last) = (text[..from].chars().next_back(), text[..to].chars().next_back());
        match before {
            Some(character) if before == last => {
                from -= character.len_utf8();
                to -= character.len_utf8();
            }
            _ => break,
        }
    }
    None
}

/// With the whole of the quoted word that it is in, if that is on the same line.
fn quoted(text: &str, (from, to): ByteSpan) -> ByteSpan {
    let (before, after) = (&text[..from], &text[to..]);
    let start = before.rfind(['"', '\n']).filter(|found| before[*found..].starts_with('"'));
    let end = after.find(['"', '\n']).filter(|found| after[*found..].starts_with('"'));
    (start.unwrap_or(from), end.map_or(to, |end| to + end + 1))
}

fn shown(sign: char, text: &str, from: usize, to: usize) -> Vec<String> {
    if from == to {
        return Vec::new();
    }
    let is_begun = from > 0 && !text[..from].ends_with('\n') && !text[from..].starts_with('\n');
    let is_unfinished = to < text.len() && !text[to..].starts_with('\n') && !text[..to].ends_with('\n');
    let (before, after) = (if is_begun { "…" } else { "" }, if is_unfinished { "…" } else { "" });
    let piece = format!("{before}{}{after}", &text[from..to]);
    let lines = piece.strip_prefix('\n').unwrap_or(&piece).lines();
    lines.map(|line| format!("{sign} {}", escaped(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::changes;

    fn all(before: &str, after: &str) -> String {
        changes(before, after).join("\n")
    }

    #[test]
    fn of_a_line_only_what_changes_is_shown() {
        let other = r#""codex":{"env":{"KEY":"secret"}}"#;
        let ours = r#""codefleet":{"command":"fleet"}"#;
        let (one, two) = (format!("{{\"s\":{{{other}}}}}"), format!("{{\"s\":{{{other},{ours}}}}}"));
        assert_eq!(all(&one, &two), format!("+ …,{ours}…"));
        assert_eq!(all(&two, &one), format!("- …,{ours}…"));
        let first = format!("{{\"s\":{{{ours},{other}}}}}");
        assert_eq!(all(&one, &first), format!("+ …{ours},…"));
        let broken = format!("{{\"s\":{{\n  {other},\n  {ours}\n}}}}");
        assert_eq!(all(&one, &broken), format!("+ …,\n+   {ours}"), "white space is no change");
        let moved = two.replace("\"fleet\"", "\"/bin/fleet\"");
        assert_eq!(all(&two, &moved), "- …\"fleet\"…\n+ …\"/bin/fleet\"…");
    }

    #[test]
    fn whole_lines_are_shown_whole_and_a_comma_drags_nothing_along() {
        assert_eq!(all("a\nb\n", "a\nc\nd\nb\n"), "+ c\n+ d");
        assert_eq!(all("", "[a]\nb = 1\n"), "+ [a]\n+ b = 1");
        assert_eq!(all("[a]\nb = 1\n", ""), "- [a]\n- b = 1");
        let before = "{\n  \"x\": \"secret\"\n}\n";
        let after = "{\n  \"x\": \"secret\",\n  \"codefleet\": {}\n}\n";
        assert_eq!(all(before, after), "+ …,\n+   \"codefleet\": {}");
        assert_eq!(all(after, before), "- …,\n-   \"codefleet\": {}");
        assert_eq!(all("same\n", "same\n"), "");
    }
}
