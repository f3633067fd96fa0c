//! Whether two patterns have a path in common: a search through the product of their automata.
//!
//! A pattern is an automaton on two levels. Its states are positions between components, and moving past a
//! component means reading a name with the component's own automaton, whose states are positions between
//! characters. Each pair of positions is visited once, so the cost is bounded by the product of the lengths,
//! whatever the patterns are.

use super::chars::{CharRange, CharSet};
use super::pattern::{ComponentPattern, Glob, PatternPart};

/// Searches for paths, and counts the steps.
#[derive(Debug, Default)]
pub(super) struct OverlapSearch {
    /// How many states were visited, on both levels.
    pub(super) explored: usize,
}

impl OverlapSearch {
    /// Whether there is a path that both patterns cover.
    pub(super) fn finds_path(&mut self, left: &Glob, right: &Glob) -> bool {
        let (left, right) = (left.parts(), right.parts());
        let mut states = Worklist::new(left.len(), right.len());
        while let Some(OverlapState { l, r, read }) = states.next() {
            self.explored += 1;
            // A pattern that is used up covers everything below, and so what the other one still asks for:
            // every pattern on its own matches something.
            let (Some(mine), Some(theirs)) = (left.get(l), right.get(r)) else { return true };
            if let (PatternPart::One(mine), PatternPart::One(theirs)) = (mine, theirs) {
                if self.finds_name(mine, theirs) {
                    states.add(l + 1, r + 1, read);
                }
            } else {
                // A run ends, or takes what the other side asks for; if that is a run, it ends.
                states.add(l + 1, r, read);
                states.add(l, r + 1, read);
            }
        }
        false
    }

    /// Whether there is a name that both patterns match.
    fn finds_name(&mut self, left: &ComponentPattern, right: &ComponentPattern) -> bool {
        let mut states = Worklist::new(left.len(), right.len());
        while let Some(OverlapState { l, r, read }) = states.next() {
            self.explored += 1;
            match (left.get(l), right.get(r)) {
                (None, None) if read == NameRead::Name => return true,
                (Some(PatternPart::One(mine)), Some(PatternPart::One(theirs))) => {
                    states.add_after(mine.common(theirs), l + 1, r + 1, read);
                }
                (Some(PatternPart::Run), Some(PatternPart::Run)) => {
                    states.add(l + 1, r, read);
                    states.add(l, r + 1, read);
                    states.add(l, r, NameRead::Name);
                }
                (Some(PatternPart::Run), theirs) => {
                    states.add(l + 1, r, read);
                    states.add_after(spans(theirs), l, r + 1, read);
                }
                (mine, Some(PatternPart::Run)) => {
                    states.add(l, r + 1, read);
                    states.add_after(spans(mine), l + 1, r, read);
                }
                _ => {}
            }
        }
        false
    }
}

fn spans(part: Option<&PatternPart<CharSet>>) -> impl Iterator<Item = CharRange> {
    let set = if let Some(PatternPart::One(set)) = part { set.spans() } else { &[] };
    set.iter().copied()
}

/// What has been read of a name, as far as it matters: `.` and `..` are not names, though patterns that no one
/// means that way match them, and nothing is not a name either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameRead {
    Nothing,
    Dot,
    DotDot,
    Name,
}

impl NameRead {
    const COUNT: usize = 4;

    fn and_dot(self) -> Self {
        match self {
            Self::Nothing => Self::Dot,
            Self::Dot => Self::DotDot,
            Self::DotDot | Self::Name => Self::Name,
        }
    }
}

/// A position in each of two patterns. Between components, nothing has been read of the next name.
#[derive(Debug, Clone, Copy)]
struct OverlapState {
    l: usize,
    r: usize,
    read: NameRead,
}

/// States to visit, each once.
struct Worklist {
    width: usize,
    seen: Vec<bool>,
    todo: Vec<OverlapState>,
}

impl Worklist {
    /// Starts at the beginning of two patterns with this many parts.
    fn new(left: usize, right: usize) -> Self {
        let width = right + 1;
        let mut list =
            Self { width, seen: vec![false; (left + 1) * width * NameRead::COUNT], todo: Vec::new() };
        list.add(0, 0, NameRead::Nothing);
        list
    }

    fn add(&mut self, l: usize, r: usize, read: NameRead) {
        let seen = &mut self.seen[(l * self.width + r) * NameRead::COUNT + read as usize];
        if !std::mem::replace(seen, true) {
            self.todo.push(OverlapState { l, r, read });
        }
    }

    /// Adds the states after one character from any of the spans.
    fn add_after(&mut self, spans: impl Iterator<Item = CharRange>, l: usize, r: usize, read: NameRead) {
        for span in spans {
            if span.contains('.') {
                self.add(l, r, read.and_dot());
            }
            if span != CharRange::one('.') {
                self.add(l, r, NameRead::Name);
            }
        }
    }

    fn next(&mut self) -> Option<OverlapState> {
        self.todo.pop()
    }
}
