//! Which files a task says it will touch, and whether two tasks would get in each other's way.
//!
//! Owns the grammar of file scopes, what they cover and when two of them overlap; what follows from an overlap
//! is the scheduler's business. A pattern is relative to the repository root and case-sensitive:
//!
//! - `?` is one character of a name, `*` any run of them (a leading dot included), `[a-z]` one of a class,
//!   `[!a-z]` one outside it;
//! - `**`, alone between slashes, is any number of directories, or none;
//! - `{a,b}` is either side, may be nested and may hold slashes; it is expanded before anything else is read;
//! - `\` takes the meaning from the character after it;
//! - a pattern covers what it matches and everything below: `src/api`, `src/api/` and `src/api/**` are the same
//!   claim, and `.` is the whole repository.
//!
//! Overlap is decided exactly, by walking the patterns of both sides at once: sampling paths or comparing
//! literal prefixes would either miss a clash or keep tasks apart that never meet.

mod chars;
mod matching;
mod overlap;
mod pattern;
#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::matching::RepoPath;
use self::overlap::OverlapSearch;
use self::pattern::{Glob, Pattern};

pub const MAX_PATTERNS: usize = 64;
pub const MAX_PATTERN_BYTES: usize = 512;
/// How many alternatives the braces of one pattern may expand to.
pub const MAX_ALTERNATIVES: usize = 64;
/// How large a scope may be in all, in characters of its patterns with their braces expanded. The cost of an
/// overlap is at worst the product of two sizes: this bound keeps a hostile pair within a fraction of a second.
pub const MAX_SIZE: usize = 4096;

/// Why a list of patterns is not a file scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Nothing, or only blanks, or braces of which one alternative leaves nothing.
    #[error(
        "the file pattern `{0}` names nothing, or one of its alternatives does; write `.` for the whole repository"
    )]
    Empty(String),
    /// Starts at the root of the file system.
    #[error(
        "the file pattern `{0}` starts at `/`, or one of its alternatives does; write it relative to the repository root"
    )]
    Absolute(String),
    /// Has a component `..`.
    #[error("the file pattern `{0}` has a component `..`; write it relative to the repository root")]
    Parent(String),
    /// Has a line break, a NUL or another control character.
    #[error("the file pattern {0:?} has a control character")]
    Control(String),
    /// Ends in `\`, or has it before a slash.
    #[error("the file pattern `{0}` has a `\\` without a character to escape")]
    DanglingEscape(String),
    #[error("the file pattern `{0}` has a `[` without its `]` in the same component; write `\\[` for itself")]
    UnclosedClass(String),
    #[error("the file pattern `{0}` has a range whose end comes before its start")]
    ReversedRange(String),
    #[error("the file pattern `{0}` has a `{{` without its `}}`; write `\\{{` for itself")]
    UnclosedBrace(String),
    #[error("the file pattern `{0}` has a `}}` without its `{{`; write `\\}}` for itself")]
    UnopenedBrace(String),
    #[error("the file pattern `{0}` expands to more than {max} alternatives", max = MAX_ALTERNATIVES)]
    TooManyAlternatives(String),
    /// One pattern is too long; only its start is kept here.
    #[error("the file pattern that starts with {0:?} is longer than {max} bytes", max = MAX_PATTERN_BYTES)]
    TooLong(String),
    /// There are too many patterns; this is the first that is too many.
    #[error("the file scope has more than {max} patterns, the first too many is `{0}`", max = MAX_PATTERNS)]
    TooManyPatterns(String),
    /// The patterns are together too large; this is the first that is too much.
    #[error("the file scope is too large from the pattern `{0}` on: more than {max} characters", max = MAX_SIZE)]
    TooLarge(String),
}

/// The files that a task says it will touch; empty when it says nothing.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>")]
#[schemars(with = "Vec<String>")]
pub struct FileScope {
    patterns: Vec<Pattern>,
}

impl FileScope {
    /// Reads patterns, in this order; one that is there twice is kept once.
    pub fn parse(patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, ScopeError> {
        let mut scope = Self::default();
        let mut size = 0;
        for text in patterns {
            let pattern = Pattern::parse(text.as_ref())?;
            if scope.patterns.iter().any(|known| known.text() == pattern.text()) {
                continue;
            }
            if scope.patterns.len() == MAX_PATTERNS {
                return Err(ScopeError::TooManyPatterns(pattern.text().to_owned()));
            }
            size += pattern.globs().iter().map(Glob::size).sum::<usize>();
            if size > MAX_SIZE {
                return Err(ScopeError::TooLarge(pattern.text().to_owned()));
            }
            scope.patterns.push(pattern);
        }
        Ok(scope)
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The patterns as text, without a leading `./` and without needless slashes.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(Pattern::text)
    }

    /// Whether a path, relative to the repository root, is covered. A slash at its end changes nothing; an
    /// absolute path, one with `..` and the root itself are no files of the repository and never covered.
    pub fn matches(&self, path: &str) -> bool {
        RepoPath::parse(path).is_some_and(|path| self.globs().any(|glob| path.is_covered_by(glob)))
    }

    /// Whether there is a path, existing or not, that both scopes cover. An empty scope overlaps nothing.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.search(other, &mut OverlapSearch::default())
    }

    fn search(&self, other: &Self, search: &mut OverlapSearch) -> bool {
        self.globs().any(|mine| other.globs().any(|theirs| search.finds_path(mine, theirs)))
    }

    fn globs(&self) -> impl Iterator<Item = &Glob> {
        self.patterns.iter().flat_map(Pattern::globs)
    }
}

impl fmt::Debug for FileScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileScope")?;
        f.debug_list().entries(self.patterns()).finish()
    }
}

impl Serialize for FileScope {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.patterns())
    }
}

impl TryFrom<Vec<String>> for FileScope {
    type Error = ScopeError;

    fn try_from(patterns: Vec<String>) -> Result<Self, ScopeError> {
        Self::parse(patterns)
    }
}
