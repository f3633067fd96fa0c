//! The values of the placeholders in a stage's prompt.

use fleet_core::report::TestLine;
use fleet_core::text::escaped;
use fleet_core::workflow::{Copies, PartState, Placeholder, StageField, marked};
use fleet_host::git::{Area, GitError};
use fleet_store::ops::Upstream;

use super::cut::{cut, patch};
use super::{StageRun, base, head};

/// A field of a stage is cut after this many bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// However many parts a stage has, each gets at least this many bytes.
pub(super) const MIN_BYTES: usize = 256;

/// A text, or one for each part of a stage.
#[derive(Debug, Default)]
pub(super) struct PlaceholderValue {
    pieces: Vec<PartText>,
    /// Whether each piece comes with the name of its part.
    is_list: bool,
}

#[derive(Debug)]
struct PartText {
    name: String,
    text: String,
    /// What it is, if another agent wrote it.
    foreign: Option<String>,
    /// How to get all of it.
    rest: String,
}

impl PlaceholderValue {
    fn plain(text: &str) -> Self {
        // What the author of the workflow wrote, or the entry that a part is for, is never cut: both are bounded.
        let piece =
            PartText { name: String::new(), text: text.to_owned(), foreign: None, rest: String::new() };
        Self { pieces: vec![piece], is_list: false }
    }

    /// Whether it is what the author of the workflow wrote, or the entry that a part is for.
    pub(super) fn is_authors(&self) -> bool {
        self.pieces.iter().all(|piece| piece.rest.is_empty())
    }

    /// As it is filled in, with so much of every part that all together stay within `most` bytes, more or less.
    pub(super) fn text(&self, mark: &str, most: usize) -> String {
        let each = (most / self.pieces.len().max(1)).max(MIN_BYTES);
        let told = |piece: &PartText| {
            let text =
                if piece.rest.is_empty() { piece.text.clone() } else { cut(&piece.text, each, &piece.rest) };
            match &piece.foreign {
                Some(what) => marked(what, mark, &text),
                None if self.is_list => format!("{}: {text}", piece.name),
                None => text,
            }
        };
        let told: Vec<String> = self.pieces.iter().filter(|piece| !piece.text.is_empty()).map(told).collect();
        told.join("\n")
    }
}

impl StageRun {
    /// The value of a placeholder.
    pub(super) fn value(&self, area: &Area, place: &Placeholder) -> Result<PlaceholderValue, GitError> {
        let (spec, part) = (&self.around.spec, &self.around.part);
        Ok(match place {
            Placeholder::Task => PlaceholderValue::plain(&spec.task),
            Placeholder::Item => PlaceholderValue::plain(part.item.as_deref().unwrap_or_default()),
            Placeholder::Number => PlaceholderValue::plain(&part.number.to_string()),
            Placeholder::Param(name) => {
                PlaceholderValue::plain(spec.params.get(name).map_or("", String::as_str))
            }
            Placeholder::Of(stage, field) => {
                let of_it = self.around.upstream.iter().filter(|upstream| upstream.part.stage == *stage);
                let pieces = of_it.map(|upstream| piece(area, upstream, *field)).collect::<Result<_, _>>()?;
                let is_list = spec.stages.get(*stage).is_some_and(|stage| stage.copies != Copies::One);
                PlaceholderValue { pieces, is_list }
            }
        })
    }
}

fn piece(area: &Area, part: &Upstream, field: StageField) -> Result<PartText, GitError> {
    let text = field_of(area, part, field)?.unwrap_or_default();
    let rest = match (&part.run.as_ref().and_then(|run| run.branch.as_ref()), field, base(part)) {
        (_, StageField::Diff, Some(from)) => match head(area, part)? {
            Some(to) => format!("all of it: `git diff {from}..{to}`"),
            None => format!("all of it: `git diff {from}..`"),
        },
        (Some(branch), _, _) => format!("it is longer; its branch is `{}`", escaped(branch)),
        _ => "it is longer".to_owned(),
    };
    let foreign = field.is_foreign().then(|| format!("The {field} of {}", part.name));
    Ok(PartText { name: part.name.clone(), text, foreign, rest })
}

/// What is known; nothing of a part that was not started.
fn field_of(area: &Area, part: &Upstream, field: StageField) -> Result<Option<String>, GitError> {
    if part.part.state == PartState::Skipped {
        return Ok((field == StageField::Status).then(|| PartState::Skipped.to_string()));
    }
    let run = part.run.as_ref();
    let branch = || run.and_then(|run| run.branch.as_deref());
    let result = part.result.as_ref();
    let lines = |lines: &[String]| lines.join("\n");
    Ok(match field {
        StageField::Status => Some(status(part)),
        StageField::Summary if part.part.state.is_bad() => {
            part.detail.clone().or_else(|| result.map(|result| result.summary.clone()))
        }
        StageField::Summary => result.map(|result| result.summary.clone()),
        // A name is chosen by an agent, and must not look like something else.
        StageField::Files => result.map(|result| {
            let names: Vec<_> = result.files_changed.iter().map(|name| escaped(name)).collect();
            let more = result.files.saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        }),
        StageField::NextSteps => result.map(|result| lines(&result.next_steps)),
        StageField::Result => result.and_then(|result| serde_json::to_string_pretty(result).ok()),
        StageField::Verdict => result.and_then(|result| serde_json::to_string(result.verdict.as_ref()?).ok()),
        StageField::Items => result.map(|result| lines(&result.items)),
        StageField::Tests => result.map(|result| lines(&result.tests.iter().map(test).collect::<Vec<_>>())),
        StageField::Commits => result.map(|result| lines(&result.commits)),
        StageField::Branch => branch().map(|branch| escaped(branch).into_owned()),
        StageField::Worktree => worktree(area, part),
        StageField::Diff => match (base(part), head(area, part)?) {
            (Some(base), Some(head)) if base != head => Some(patch(area, &base, &head, MAX_BYTES)?),
            _ => None,
        },
    })
}

/// How a part ended, in one word.
pub(super) fn status(part: &Upstream) -> String {
    match (part.part.state.get(), &part.result) {
        (PartState::Done, Some(result)) => result.status.to_string(),
        (PartState::Done, None) => "completed".to_owned(),
        (state, _) => state.to_string(),
    }
}

fn test(test: &TestLine) -> String {
    let detail = if test.detail.is_empty() { String::new() } else { format!(": {}", test.detail) };
    format!("{} {}{detail}", test.outcome, test.name)
}

/// Where it works, if that is so. Workspaces are used again: the directory of a run that is over has the files of
/// another run.
fn worktree(area: &Area, part: &Upstream) -> Option<String> {
    let run = part.run.as_ref()?;
    let branch = run.branch.as_deref()?;
    let place = area.look(&run.id.to_string()).ok().flatten().map(|seen| seen.checkout.work_tree);
    let place = place.map(|path| escaped(&path.to_string_lossy()).into_owned());
    let gone = || format!("(no longer there: read it with `git show {}:PATH`)", escaped(branch));
    Some(place.unwrap_or_else(gone))
}
