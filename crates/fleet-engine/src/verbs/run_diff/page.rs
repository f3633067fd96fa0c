//! Pages of a difference.

use std::path::Path;
use std::str::FromStr;

use fleet_api::Bytes;
use fleet_api::verbs::run_diff::{Answer, Request, Style};
use fleet_host::git::{self, DiffColor, DiffStyle, Oid};

use crate::verbs::prelude::*;
use crate::window::Window;

/// The default size of a page, in bytes.
const DEFAULT_PAGE_BYTES: u32 = 1_000_000;

/// Where a page begins: in the difference of these two states, so that all pages are of the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) base: Oid,
    pub(super) head: Oid,
    pub(super) skip: u64,
}

impl Cursor {
    pub(super) fn text(&self) -> String {
        format!("{}-{}-{}", self.base, self.head, self.skip)
    }
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(text: &str) -> Outcome<Self> {
        let parse = || {
            let mut parts = text.split('-');
            let mut oid = || Oid::parse(parts.next()?).ok();
            let (base, head) = (oid()?, oid()?);
            let skip = parts.next()?.parse().ok()?;
            parts.next().is_none().then_some(Self { base, head, skip })
        };
        parse().ok_or_else(|| {
            Problem::field("after", "it does not come from the previous page")
                .hint("pass it on unchanged, or leave it out to start over")
        })
    }
}

/// Reads the page that begins there; an empty one if the diff itself is not wanted. Blocks.
pub(super) fn read(repo: &Path, cursor: &Cursor, request: &Request) -> Outcome<Answer> {
    let nothing = Answer { of: None, summary: None, text: Bytes::default(), next: None };
    let Some(style) = request.style else { return Ok(nothing) };
    let most = usize::try_from(request.limit.unwrap_or(DEFAULT_PAGE_BYTES).max(1)).unwrap_or(usize::MAX);
    let mut window = Window::new(cursor.skip, most);
    let written = git::diff(repo, (&cursor.base, &cursor.head), git_style(style), &mut window);
    let Window { mut kept, is_full, .. } = window;
    if !is_full {
        written.map_err(problems::git)?;
        return Ok(Answer { text: Bytes(kept), ..nothing });
    }
    let line = kept.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    kept.truncate(line.unwrap_or_else(|| whole_characters(&kept)));
    let next = Cursor { skip: cursor.skip + kept.len() as u64, ..cursor.clone() };
    Ok(Answer { text: Bytes(kept), next: Some(next.text()), ..nothing })
}

/// The command line colours it.
fn git_style(style: Style) -> DiffStyle {
    let color = DiffColor::Never;
    match style {
        Style::Apply => DiffStyle::Apply,
        Style::Patch => DiffStyle::Patch { color },
        Style::Stat(width) => DiffStyle::Stat { width, color },
    }
}

/// How many of the bytes are whole characters.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let oid = |digit: &str| Oid::parse(&digit.repeat(40)).unwrap();
        let cursor = Cursor { base: oid("a"), head: oid("b"), skip: 7 };
        assert_eq!(cursor.text().parse::<Cursor>().unwrap(), cursor);
        for text in ["", "7", "a-b-7", &format!("{}-1", cursor.text()), "--"] {
            let problem = text.parse::<Cursor>().unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("after"), "{text}");
        }
    }
}
