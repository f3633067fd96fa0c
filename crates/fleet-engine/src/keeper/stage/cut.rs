//! Long texts made to fit.

use fleet_host::git::{self, Area, DiffColor, DiffStyle, GitError, Oid};

use crate::window::Window;

/// The beginning of each file in a patch.
const FILE: &str = "\ndiff --git ";

/// The beginning of a text, whole lines of it, and of a patch whole files if that does not lose half; then what is said
/// about the rest.
pub(super) fn cut(text: &str, most: usize, rest: &str) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let room = &text[..text.floor_char_boundary(most)];
    let lines = room.rfind('\n').map_or(room, |end| &room[..end]);
    let files = room.rfind(FILE).filter(|end| *end >= most / 2).map(|end| &room[..end]);
    format!("{}\n[cut here: {rest}]", files.unwrap_or(lines).trim_end())
}

/// What `head` has that `base` has not, as a patch, of which no more than a little above `most` bytes is made.
pub(super) fn patch(area: &Area, base: &Oid, head: &Oid, most: usize) -> Result<String, GitError> {
    let mut window = Window::new(0, most.saturating_add(1));
    let made =
        git::diff(&area.vault, (base, head), DiffStyle::Patch { color: DiffColor::Never }, &mut window);
    match made {
        Err(GitError::Write(_)) if window.is_full => {}
        made => made?,
    }
    Ok(String::from_utf8_lossy(&window.kept).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_whole_lines_and_whole_files() {
        assert_eq!(cut("short", 10, "x"), "short");
        assert_eq!(cut("one\ntwo\nthree\n", 10, "see y"), "one\ntwo\n[cut here: see y]");
        assert_eq!(cut("ü".repeat(9).as_str(), 5, "y"), "üü\n[cut here: y]");
        let patch = format!("diff --git a b\n+{}\ndiff --git c d\n+one\n+two\n+three\n", "x".repeat(40));
        let most = patch.len() - 4;
        assert_eq!(cut(&patch, most, "y"), format!("diff --git a b\n+{}\n[cut here: y]", "x".repeat(40)));
        let unequal = format!("diff --git a b\ndiff --git c d\n{}", "+line\n".repeat(20));
        assert!(cut(&unequal, 100, "y").contains("+line"), "half a file is better than none");
    }
}
