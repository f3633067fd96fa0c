//! Dependencies that seem to be missing.

use std::collections::{BTreeMap, BTreeSet};

use super::OpenTask;
use crate::deps::{self, Edge};
use crate::id::TaskId;

/// Why a dependency seems to be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// The text of the one has the id of the other.
    NamesId,
    /// The text of the one has the title of the other.
    NamesTitle,
    /// Both claim the same files. They never run together; which comes first is left to chance.
    SameFiles,
}

/// A dependency that seems to be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingDependency {
    /// Which should perhaps wait for which.
    pub edge: Edge,
    pub hint: Hint,
}

/// Users do not read more.
const MAX_HINTS: usize = 20;
/// At most this many tasks with a scope are compared with each other.
const MAX_SCOPED: usize = 200;
/// A shorter title, or one of a single word, stands in many a text by chance.
const SHORTEST_TITLE: usize = 12;

/// Dependencies that seem to be missing among tasks in the order of their plan, the surest first. Taken together they
/// close no cycle.
pub fn missing(items: &[OpenTask], edges: &[Edge]) -> Vec<MissingDependency> {
    let mut guesses = mentions(items);
    guesses.extend(same_files(items));
    let mut known = edges.to_vec();
    let mut behind = deps::closure(&known);
    let mut found: Vec<MissingDependency> = Vec::new();
    for guess in guesses {
        let waits = |a: TaskId, b: TaskId| behind.get(&a).is_some_and(|behind| behind.contains(&b));
        let Edge { task, on } = guess.edge;
        if waits(task, on) || waits(on, task) {
            continue;
        }
        known.push(guess.edge);
        behind = deps::closure(&known);
        found.push(guess);
        if found.len() == MAX_HINTS {
            break;
        }
    }
    found
}

/// Texts that name another task.
fn mentions(items: &[OpenTask]) -> Vec<MissingDependency> {
    let by_id: BTreeSet<TaskId> = items.iter().map(|item| item.id).collect();
    let titles = titles(items);
    let (mut ids, mut named) = (Vec::new(), Vec::new());
    for item in items {
        let text = format!("{}\n{}", item.title, item.body).to_lowercase();
        let words: BTreeSet<&str> = words(&text).collect();
        let mut seen = BTreeSet::from([item.id]);
        let typed = words.iter().filter_map(|word| word.parse::<TaskId>().ok());
        for on in typed.filter(|on| by_id.contains(on)) {
            if seen.insert(on) {
                ids.push(MissingDependency { edge: Edge { task: item.id, on }, hint: Hint::NamesId });
            }
        }
        // Only titles of which the longest word is there at all are looked for.
        for (on, title) in words.iter().filter_map(|word| titles.get(*word)).flatten() {
            if !seen.contains(on) && text.contains(title.as_str()) {
                seen.insert(*on);
                named.push(MissingDependency {
                    edge: Edge { task: item.id, on: *on },
                    hint: Hint::NamesTitle,
                });
            }
        }
    }
    ids.extend(named);
    ids
}

/// Titles that cannot be there by chance, by their longest word.
fn titles(items: &[OpenTask]) -> BTreeMap<String, Vec<(TaskId, String)>> {
    let mut titles: BTreeMap<String, Vec<(TaskId, String)>> = BTreeMap::new();
    for item in items {
        let title = item.title.trim().to_lowercase();
        let longest = words(&title).max_by_key(|word| word.len()).map(ToOwned::to_owned);
        if let Some(word) = longest
            && title.len() >= SHORTEST_TITLE
            && words(&title).count() > 1
        {
            titles.entry(word).or_default().push((item.id, title));
        }
    }
    titles
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Tasks that claim the same files: the later one could wait for the earlier one.
fn same_files(items: &[OpenTask]) -> Vec<MissingDependency> {
    let scoped: Vec<&OpenTask> =
        items.iter().filter(|item| !item.scope.is_empty()).take(MAX_SCOPED).collect();
    let mut found = Vec::new();
    for (at, first) in scoped.iter().enumerate() {
        let later = scoped[at + 1..].iter().filter(|later| first.scope.overlaps(&later.scope));
        found.extend(later.map(|later| MissingDependency {
            edge: Edge { task: later.id, on: first.id },
            hint: Hint::SameFiles,
        }));
    }
    found
}
