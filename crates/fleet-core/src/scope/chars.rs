//! Sets of the characters that can stand in a name, kept as ranges so that no operation ever lists them.

/// The characters from `first` to `last`, both included; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CharRange {
    pub(super) first: char,
    pub(super) last: char,
}

impl CharRange {
    pub(super) const fn one(c: char) -> Self {
        Self { first: c, last: c }
    }

    pub(super) fn contains(self, c: char) -> bool {
        self.first <= c && c <= self.last
    }

    /// What is in both. Its ends are ends of the two, so it cannot fall into the gap of the surrogates.
    fn common(self, other: Self) -> Option<Self> {
        let common = Self { first: self.first.max(other.first), last: self.last.min(other.last) };
        (common.first <= common.last).then_some(common)
    }
}

/// What no name contains.
const FORBIDDEN: [CharRange; 2] = [CharRange::one('\0'), CharRange::one('/')];

/// A set of characters: in order, apart from each other, and never one that is forbidden in a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CharSet {
    /// Most are a single character: worth not allocating for.
    One(CharRange),
    Many(Vec<CharRange>),
}

impl CharSet {
    /// The set of one character, which must be allowed in a name.
    pub(super) const fn char(c: char) -> Self {
        Self::One(CharRange::one(c))
    }

    pub(super) fn any() -> Self {
        Self::outside(Vec::new())
    }

    /// Every character of a name that is in one of the spans.
    pub(super) fn inside(spans: Vec<CharRange>) -> Self {
        Self::outside(gaps(spans))
    }

    /// Every character of a name that is in none of the spans.
    pub(super) fn outside(mut spans: Vec<CharRange>) -> Self {
        spans.extend(FORBIDDEN);
        let spans = gaps(spans);
        if let [one] = spans[..] { Self::One(one) } else { Self::Many(spans) }
    }

    pub(super) fn spans(&self) -> &[CharRange] {
        match self {
            Self::One(span) => std::slice::from_ref(span),
            Self::Many(spans) => spans,
        }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        self.spans().iter().any(|span| span.contains(c))
    }

    /// The spans that are in both sets.
    pub(super) fn common<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = CharRange> + 's {
        self.spans().iter().flat_map(|mine| other.spans().iter().filter_map(|theirs| mine.common(*theirs)))
    }
}

/// The gaps between the spans, before the first and after the last, in order.
fn gaps(mut spans: Vec<CharRange>) -> Vec<CharRange> {
    spans.sort_unstable();
    let mut gaps = Vec::new();
    let mut start = Some('\0');
    for span in spans {
        let Some(first) = start else { break };
        if let Some(last) = before(span.first)
            && first <= last
        {
            gaps.push(CharRange { first, last });
        }
        if span.last >= first {
            start = after(span.last);
        }
    }
    gaps.extend(start.map(|first| CharRange { first, last: char::MAX }));
    gaps
}

// The neighbours of a character, over the gap of the surrogates: ranges of `char` know about it.

fn after(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

fn before(c: char) -> Option<char> {
    ('\0'..=c).nth_back(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: char, last: char) -> CharRange {
        CharRange { first, last }
    }

    #[test]
    fn spans_are_sorted_merged_and_free_of_the_slash() {
        let set = CharSet::inside(vec![
            span('x', 'z'),
            span('+', '1'),
            span('a', 'c'),
            span('b', 'd'),
            span('e', 'e'),
        ]);
        assert_eq!(set.spans(), [span('+', '.'), span('0', '1'), span('a', 'e'), span('x', 'z')]);
        assert_eq!(CharSet::inside(vec![CharRange::one('q'), CharRange::one('q')]), CharSet::char('q'));
    }

    #[test]
    fn a_complement_steps_over_the_surrogates() {
        let set = CharSet::outside(vec![span('0', '\u{D7FF}')]);
        assert_eq!(set.spans(), [span('\u{1}', '.'), span('\u{E000}', char::MAX)]);
        let set = CharSet::outside(vec![span('\u{E000}', char::MAX)]);
        assert_eq!(set.spans(), [span('\u{1}', '.'), span('0', '\u{D7FF}')]);
    }

    #[test]
    fn common_is_what_both_hold() {
        let letters = CharSet::inside(vec![span('a', 'm'), span('x', 'z')]);
        let others = CharSet::outside(vec![span('c', 'y')]);
        assert_eq!(letters.common(&others).collect::<Vec<_>>(), [span('a', 'b'), span('z', 'z')]);
        assert_eq!(letters.common(&CharSet::char('n')).count(), 0);
    }
}
