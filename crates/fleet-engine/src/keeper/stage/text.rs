//! What the agent of a stage is told: the workflow's words for it, filled in, and where it can read what others did.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use fleet_core::template::fill;
use fleet_core::text::{escaped, shortened};
use fleet_core::workflow::{PartState, Returns, places};
use fleet_host::git::GitError;
use fleet_store::ops::Upstream;

use super::values::{self, Value, status};
use super::{StageRun, Unmerged, base, head};

/// No prompt is longer, whatever is filled in.
const LONGEST: usize = 384 * 1024;
/// So many parts are listed.
const LISTED: usize = 100;
/// The reason of a failure is told in so many bytes.
const LONGEST_DETAIL: usize = 500;

/// The task of a stage, in words, and what its agent is to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::keeper) struct StageText {
    pub(in crate::keeper) text: String,
    pub(in crate::keeper) returns: Returns,
    /// Those about whom a verdict can be, by name.
    pub(in crate::keeper) names: Vec<String>,
}

impl StageRun {
    /// All that its agent is told of the task. `mark` is one that no other agent can know.
    pub(in crate::keeper) fn text(
        &self,
        repo: &Path,
        mark: &str,
        unmerged: &[Unmerged],
    ) -> Result<StageText, GitError> {
        let template = self.stage.prompt.as_str();
        let mut found = BTreeMap::new();
        for (name, place) in places(&self.around.spec, template) {
            found.insert(name, self.value(repo, &place)?);
        }
        let parts = [filled(template, mark, &found), merges(unmerged), self.branches(repo)?];
        let parts: Vec<&str> =
            parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
        Ok(StageText { text: parts.join("\n\n"), returns: self.stage.returns, names: self.names() })
    }

    /// What was judged, where somebody is to judge.
    fn names(&self) -> Vec<String> {
        let is_needed = |part: &&Upstream| self.stage.needs.contains(&part.part.stage);
        let is_done = |part: &&Upstream| part.part.state == PartState::Done;
        let needed = self.around.upstream.iter().filter(is_needed).filter(is_done);
        needed.map(|part| part.name.clone()).take(LISTED).collect()
    }

    /// A reviewer or a judge has to see the work itself, even if the author of the prompt did not think of it.
    fn branches(&self, repo: &Path) -> Result<String, GitError> {
        let upstream = &self.around.upstream;
        let mut lines = Vec::new();
        for part in upstream.iter().take(LISTED) {
            lines.push(format!("\n- {}: {}", part.name, told(repo, part)?));
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
    let lines: Vec<String> = unmerged.iter().map(|unmerged| format!("\n- {}", unmerged.told())).collect();
    format!(
        "Your branch starts from what several stages made, and not all of it goes together. Before anything else, \
         merge these into your branch, one after the other, resolve the conflicts so that what both sides meant \
         is kept, and commit:{}",
        lines.concat()
    )
}

/// What a part left, in a line.
fn told(repo: &Path, part: &Upstream) -> Result<String, GitError> {
    let mut told = status(part);
    if part.part.state.is_bad()
        && let Some(why) = &part.detail
    {
        told = format!("{told} ({})", escaped(&shortened(why, LONGEST_DETAIL)));
    }
    let (Some(run), Some(base), Some(head)) = (&part.run, base(part), head(repo, part)?) else {
        return Ok(told);
    };
    Ok(match &run.branch {
        Some(branch) if head != base => {
            format!("{told}, branch `{}`, commits `{base}..{head}`", escaped(branch))
        }
        _ => format!("{told}, no changes of its own, at commit `{head}`"),
    })
}

/// Fills the template, with less of everything if all of it would be too much.
fn filled(template: &str, mark: &str, values: &BTreeMap<String, Value>) -> String {
    let mut most = values::MOST;
    loop {
        let texts: BTreeMap<&str, String> =
            values.iter().map(|(name, value)| (name.as_str(), value.text(mark, most))).collect();
        let (text, is_whole) = bounded(template, &texts);
        if is_whole || most <= values::LEAST {
            return text;
        }
        most /= 2;
    }
}

/// The filled template, and whether all of it is there. A place may stand in it many times: what counts is the whole.
fn bounded(template: &str, texts: &BTreeMap<&str, String>) -> (String, bool) {
    let room = Cell::new(LONGEST.saturating_sub(template.len()));
    let is_whole = Cell::new(true);
    let text = fill(template, |name| {
        let text = texts.get(name)?;
        let end = text.floor_char_boundary(room.get());
        room.set(room.get() - end);
        is_whole.set(is_whole.get() && end == text.len());
        Some(&text[..end])
    });
    (shortened(&text, LONGEST).into_owned(), is_whole.get())
}
