//! The prompt of a stage: the workflow's words for it, filled in, and where its agent can read what others did.

use std::cell::Cell;
use std::collections::BTreeMap;

use fleet_core::template::fill;
use fleet_core::text::{escaped, shortened};
use fleet_core::workflow::{PartState, Returns, StageStart, marked, placeholders};
use fleet_host::git::{Area, GitError};
use fleet_store::ops::Upstream;

use super::values::{self, PlaceholderValue, status};
use super::{StageRun, base, head};
use crate::keeper::prior_work::Unmerged;

/// At most this much of what others did. What the author of the workflow wrote is there in full, and bounded before
/// anything starts.
const MAX_PROMPT_BYTES: usize = 384 * 1024;
/// At most this many parts are listed.
const LISTED: usize = 100;
/// The text in place of a value that is too long even in its shortest form.
const LEFT_OUT: &str = "[left out: too long]";
/// The reason of a failure is cut after this many bytes.
const LONGEST_DETAIL: usize = 500;

/// The task of a stage, in words, and what its agent is to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::keeper) struct StageText {
    pub(in crate::keeper) text: String,
    pub(in crate::keeper) returns: Returns,
    /// The stages that a verdict can name.
    pub(in crate::keeper) names: Vec<String>,
}

impl StageRun {
    /// The whole task for its agent. The words are those of the task: a user may have edited them there since the
    /// workflow began. `mark` is one that no other agent can know.
    pub(in crate::keeper) fn text(
        &self,
        area: &Area,
        (words, mark): (&str, &str),
        unmerged: &[Unmerged],
    ) -> Result<StageText, GitError> {
        let template = if words.is_empty() { self.stage.prompt.as_str() } else { words };
        let mut found = BTreeMap::new();
        for (name, place) in placeholders(&self.around.spec, template) {
            found.insert(name, self.value(area, &place)?);
        }
        let parts = [filled(template, mark, &found), merges(unmerged), self.branches(area, mark)?];
        let parts: Vec<&str> =
            parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
        Ok(StageText { text: parts.join("\n\n"), returns: self.stage.returns, names: self.names() })
    }

    /// What there is to judge, for a judging stage. A stage that starts from all of them has nothing to choose.
    fn names(&self) -> Vec<String> {
        if self.stage.start == StageStart::Inherit {
            return Vec::new();
        }
        let is_needed = |part: &&Upstream| self.stage.needs.contains(&part.part.stage);
        let is_done = |part: &&Upstream| part.part.state == PartState::Done;
        let needed = self.around.upstream.iter().filter(is_needed).filter(is_done);
        needed.map(|part| part.name.clone()).take(LISTED).collect()
    }

    /// A reviewer or a judge has to see the work itself, even if the author of the prompt did not think of it.
    fn branches(&self, area: &Area, mark: &str) -> Result<String, GitError> {
        let upstream = &self.around.upstream;
        let mut lines = Vec::new();
        for part in upstream.iter().take(LISTED) {
            lines.push(format!("\n- {}: {}{}", part.name, described(area, part)?, reason(part, mark)));
        }
        if lines.is_empty() {
            return Ok(String::new());
        }
        if upstream.len() > LISTED {
            lines.push(format!("\n- and {} more", upstream.len() - LISTED));
        }
        Ok(format!(
            "What the stages before this one left is in this repository: read it with git (`git log`, `git diff`, \
             `git show COMMIT:PATH`), and do not change these branches:{}",
            lines.concat()
        ))
    }
}

/// What its agent has to merge first.
fn merges(unmerged: &[Unmerged]) -> String {
    if unmerged.is_empty() {
        return String::new();
    }
    let lines: Vec<String> =
        unmerged.iter().map(|unmerged| format!("\n- {}", unmerged.described())).collect();
    format!(
        "Your branch starts from what several stages made, and not all of it goes together. Before anything else, \
         merge these into your branch, one after the other, resolve the conflicts so that what both sides meant \
         is kept, and commit each merge yourself:{}",
        lines.concat()
    )
}

/// Why a part came to nothing: often what its agent said of it.
fn reason(part: &Upstream, mark: &str) -> String {
    let why = part.detail.as_ref().filter(|_| part.part.state.is_bad());
    let told = |why: &String| {
        let what = format!("Why {} did not succeed", part.name);
        format!("\n{}", marked(&what, mark, &escaped(&shortened(why, LONGEST_DETAIL))))
    };
    why.map(told).unwrap_or_default()
}

/// What a part left, in a line.
fn described(area: &Area, part: &Upstream) -> Result<String, GitError> {
    let told = status(part);
    let (Some(run), Some(base), Some(head)) = (&part.run, base(part), head(area, part)?) else {
        return Ok(told);
    };
    Ok(match &run.branch {
        Some(branch) if head != base => {
            format!("{told}, branch `{}`, commits `{base}..{head}`", escaped(branch))
        }
        _ => format!("{told}, no own changes, at commit `{head}`"),
    })
}

/// Fills the template, with less of what others did if all of it would be too much.
fn filled(template: &str, mark: &str, values: &BTreeMap<String, PlaceholderValue>) -> String {
    let mut most = values::MAX_BYTES;
    loop {
        let texts: BTreeMap<&str, (String, bool)> = values
            .iter()
            .map(|(name, value)| (name.as_str(), (value.text(mark, most), value.is_authors())))
            .collect();
        let (text, is_whole) = bounded(template, &texts);
        if is_whole || most <= values::MIN_BYTES {
            return text;
        }
        most /= 2;
    }
}

/// The filled template, and whether all of it is there. A place may stand in it many times: what counts is the whole.
fn bounded(template: &str, texts: &BTreeMap<&str, (String, bool)>) -> (String, bool) {
    let (room, is_whole) = (Cell::new(MAX_PROMPT_BYTES), Cell::new(true));
    let text = fill(template, |name| {
        let (text, is_authors) = texts.get(name)?;
        if *is_authors {
            return Some(text.as_str());
        }
        // All or nothing: half of a quotation has no end.
        let fits = text.len() <= room.get();
        let text = if fits { text.as_str() } else { LEFT_OUT };
        room.set(room.get().saturating_sub(text.len()));
        is_whole.set(is_whole.get() && fits);
        Some(text)
    });
    (text, is_whole.get())
}
