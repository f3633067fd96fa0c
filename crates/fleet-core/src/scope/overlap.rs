//! Whether two patterns have a path in common: a search through the product of their automata.
//!
//! A pattern is an automaton on two levels. Its states are positions between components, and moving past a
//! component means reading a name with the component's own automaton, whose states are positions between
//! characters. Each pair of positions is visited once, so the cost is bounded by the product of the lengths,
//! whatever the patterns are.

use super::chars::{CharRange, CharSet};
use super::pattern::{Glob, Name, Part};

/// Searches for paths, and counts the steps.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// How many states were visited, on both levels.
    pub(super) explored: usize,
}

impl Search {
    /// Whether there is a path that both patterns cover.
    pub(super) fn finds_path(&mut self, left: &Glob, right: &Glob) -> bool {
        let (left, right) = (left.parts(), right.parts());
        let mut states = Worklist::new(left.len(), right.len());
        while let Some(State { l, r, read }) = states.next() {
            self.explored += 1;
            // A pattern that is used up covers everything below, and so what the other one still asks for:
            // every pattern on its own matches something.
            let (Some(mine), Some(theirs)) = (left.get(l), right.get(r)) else { return true };
            if let (Part::One(mine), Part::One(theirs)) = (mine, theirs) {
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
    fn finds_name(&mut self, left: &Name, right: &Name) -> bool {
        let mut states = Worklist::new(left.len(), right.len());
        while let Some(State { l, r, read }) = states.next() {
            self.explored += 1;
            match (left.get(l), right.get(r)) {
                (None, None) if read == Read::Name => return true,
                (Some(Part::One(mine)), Some(Part::One(theirs))) => {
                    states.add_after(mine.common(theirs), l + 1, r + 1, read);
                }
                (Some(Part::Run), Some(Part::Run)) => {
                    states.add(l + 1, r, read);
                    states.add(l, r + 1, read);
                    states.add(l, r, Read::Name);
                }
                (Some(Part::Run), theirs) => {
                    states.add(l + 1, r, read);
                    states.add_after(spans(theirs), l, r + 1, read);
                }
                (mine, Some(Part::Run)) => {
                    states.add(l, r + 1, read);
                    states.add_after(spans(mine), l + 1, r, read);
                }
                _ => {}
            }
        }
        false
    }
}

fn spans(part: Option<&Part<CharSet>>) -> impl Iterator<Item = CharRange> {
    let set = if let Some(Part::One(set)) = part { set.spans() } else { &[] };
    set.iter().copied()
}

/// What has been read of a name, as far as it matters: `.` and `..` are not names, though patterns that no one
/// means that way match them, and nothing is not a name either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Nothing,
    Dot,
    DotDot,
    Name,
}

impl Read {
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
struct State {
    l: usize,
    r: usize,
    read: Read,
}

/// States to visit, each once.
struct Worklist {
    width: usize,
    seen: Vec<bool>,
    todo: Vec<State>,
}

impl Worklist {
    /// Starts at the beginning of two patterns with this many parts.
    fn new(left: usize, right: usize) -> Self {
        let width = right + 1;
        let mut list = Self { width, seen: vec![false; (left + 1) * width * Read::COUNT], todo: Vec::new() };
        list.add(0, 0, Read::Nothing);
        list
    }

    fn add(&mut self, l: usize, r: usize, read: Read) {
        let seen = &mut self.seen[(l * self.width + r) * Read::COUNT + read as usize];
        if !std::mem::replace(seen, true) {
            self.todo.push(State { l, r, read });
        }
    }

    /// Adds the states after one character from any of the spans.
    fn add_after(&mut self, spans: impl Iterator<Item = CharRange>, l: usize, r: usize, read: Read) {
        for span in spans {
            if span.contains('.') {
                self.add(l, r, read.and_dot());
            }
            if span != CharRange::one('.') {
                self.add(l, r, Read::Name);
            }
        }
    }

    fn next(&mut self) -> Option<State> {
        self.todo.pop()
    }
}
