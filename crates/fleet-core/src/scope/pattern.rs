//! From the text of a pattern to its automata: one for each alternative of its braces.

use std::iter::Peekable;
use std::mem;
use std::str::CharIndices;

use super::chars::{CharRange, CharSet};
use super::{MAX_ALTERNATIVES, MAX_PATTERN_BYTES, ScopeError};

/// One place of a sequence that is matched from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternPart<T> {
    /// Any number of anything, nothing included.
    Run,
    One(T),
}

/// What one component of a path must look like.
pub(super) type ComponentPattern = Vec<PatternPart<CharSet>>;

/// A pattern without braces. It covers what its parts match and everything below, so it never ends in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    parts: Vec<PatternPart<ComponentPattern>>,
}

impl Glob {
    pub(super) fn parts(&self) -> &[PatternPart<ComponentPattern>] {
        &self.parts
    }

    /// How large the automaton is: positions, and the ranges of classes.
    pub(super) fn size(&self) -> usize {
        let name_size = |name: &ComponentPattern| {
            name.iter()
                .map(|part| if let PatternPart::One(set) = part { set.spans().len() } else { 1 })
                .sum::<usize>()
        };
        self.parts
            .iter()
            .map(|part| if let PatternPart::One(name) = part { name_size(name) + 1 } else { 1 })
            .sum()
    }

    fn compile(tokens: &[PatternToken]) -> Result<Self, PatternFault> {
        const DOT: PatternToken = PatternToken::Char(CharSet::char('.'));
        match tokens {
            [] => return Err(ScopeError::Empty),
            [PatternToken::Slash, ..] => return Err(ScopeError::Absolute),
            _ => {}
        }
        let mut parts = Vec::new();
        for component in tokens.split(|token| *token == PatternToken::Slash) {
            match component {
                [] => {}
                [dot] if *dot == DOT => {}
                [one, two] if *one == DOT && *two == DOT => return Err(ScopeError::Parent),
                [PatternToken::Star, PatternToken::Star] => parts.push(PatternPart::Run),
                _ => parts.push(PatternPart::One(compile_name(component))),
            }
        }
        merge_runs(&mut parts);
        parts.pop_if(|last| matches!(last, PatternPart::Run));
        Ok(Self { parts })
    }
}

fn compile_name(tokens: &[PatternToken]) -> ComponentPattern {
    let part = |token: &PatternToken| {
        if let PatternToken::Char(set) = token { PatternPart::One(set.clone()) } else { PatternPart::Run }
    };
    let mut name = tokens.iter().map(part).collect();
    merge_runs(&mut name);
    name
}

fn merge_runs<T>(parts: &mut Vec<PatternPart<T>>) {
    parts.dedup_by(|next, last| matches!((next, last), (PatternPart::Run, PatternPart::Run)));
}

/// A pattern as written, tidied, and its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    globs: Vec<Glob>,
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Result<Self, ScopeError> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(ScopeError::TooLong(text.chars().take(48).collect()));
        }
        Self::try_parse(text).map_err(|fault| fault(text.to_owned()))
    }

    fn try_parse(text: &str) -> Result<Self, PatternFault> {
        if text.trim().is_empty() {
            return Err(ScopeError::Empty);
        }
        if text.contains(char::is_control) {
            return Err(ScopeError::Control);
        }
        let Parsed { alternatives, slashes } = PatternParser::new(text).parse()?;
        let globs = alternatives.iter().map(|tokens| Glob::compile(tokens)).collect::<Result<_, _>>()?;
        Ok(Self { text: tidy(text, &slashes), globs })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn globs(&self) -> &[Glob] {
        &self.globs
    }
}

/// Drops the components that say nothing. What is in braces stays as written.
fn tidy(text: &str, slashes: &[usize]) -> String {
    let starts = std::iter::once(0).chain(slashes.iter().map(|at| at + 1));
    let ends = slashes.iter().copied().chain([text.len()]);
    let components = starts.zip(ends).map(|(start, end)| &text[start..end]);
    let kept: Vec<&str> = components.filter(|component| !matches!(*component, "" | ".")).collect();
    if kept.is_empty() { ".".to_owned() } else { kept.join("/") }
}

/// What is wrong with a pattern, still without the pattern.
pub(super) type PatternFault = fn(String) -> ScopeError;

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternToken {
    Slash,
    Star,
    Char(CharSet),
}

type PatternTokens = Vec<PatternToken>;

struct Parsed {
    alternatives: Vec<PatternTokens>,
    /// Where the slashes are that stand outside of braces.
    slashes: Vec<usize>,
}

/// One level of braces: the branches before the last comma, and what the branch after it has come to so far.
struct BraceLevel {
    closed: Vec<PatternTokens>,
    open: Vec<PatternTokens>,
}

impl BraceLevel {
    fn new() -> Self {
        Self { closed: Vec::new(), open: vec![Vec::new()] }
    }

    fn push(&mut self, token: &PatternToken) {
        for tokens in &mut self.open {
            tokens.push(token.clone());
        }
    }

    fn comma(&mut self) {
        self.closed.append(&mut self.open);
        self.open.push(Vec::new());
    }

    /// Goes on with each of the endings after each of the open alternatives.
    fn fork(&mut self, endings: &[PatternTokens]) -> Result<(), PatternFault> {
        if self.open.len() * endings.len() > MAX_ALTERNATIVES {
            return Err(ScopeError::TooManyAlternatives);
        }
        let starts = mem::take(&mut self.open);
        self.open =
            starts.iter().flat_map(|start| endings.iter().map(|end| [&start[..], end].concat())).collect();
        Ok(())
    }
}

/// Expands braces while reading, level by level on its own stack: the text must not decide how deep the
/// parser recurses.
struct PatternParser<'t> {
    chars: Peekable<CharIndices<'t>>,
    level: BraceLevel,
    outer: Vec<BraceLevel>,
    slashes: Vec<usize>,
}

impl<'t> PatternParser<'t> {
    fn new(text: &'t str) -> Self {
        let chars = text.char_indices().peekable();
        Self { chars, level: BraceLevel::new(), outer: Vec::new(), slashes: Vec::new() }
    }

    fn parse(mut self) -> Result<Parsed, PatternFault> {
        while let Some((at, c)) = self.chars.next() {
            match c {
                '/' => self.slash(at),
                '*' => self.level.push(&PatternToken::Star),
                '?' => self.level.push(&PatternToken::Char(CharSet::any())),
                '[' => {
                    let class = self.class()?;
                    self.level.push(&PatternToken::Char(class));
                }
                '{' => self.outer.push(mem::replace(&mut self.level, BraceLevel::new())),
                ',' if !self.outer.is_empty() => self.level.comma(),
                '}' => self.close_brace()?,
                '\\' => {
                    let literal = CharSet::char(self.escaped()?);
                    self.level.push(&PatternToken::Char(literal));
                }
                literal => self.level.push(&PatternToken::Char(CharSet::char(literal))),
            }
        }
        if !self.outer.is_empty() {
            return Err(ScopeError::UnclosedBrace);
        }
        Ok(Parsed { alternatives: self.level.open, slashes: self.slashes })
    }

    fn slash(&mut self, at: usize) {
        if self.outer.is_empty() {
            self.slashes.push(at);
        }
        self.level.push(&PatternToken::Slash);
    }

    fn close_brace(&mut self) -> Result<(), PatternFault> {
        let outer = self.outer.pop().ok_or(ScopeError::UnopenedBrace as PatternFault)?;
        let mut inner = mem::replace(&mut self.level, outer);
        inner.comma();
        self.level.fork(&inner.closed)
    }

    fn escaped(&mut self) -> Result<char, PatternFault> {
        match self.chars.next() {
            None | Some((_, '/')) => Err(ScopeError::DanglingEscape),
            Some((_, c)) => Ok(c),
        }
    }

    /// Reads a class after its `[`. As everywhere, a leading `]` is literal, and so is a `-` with nothing on one side.
    fn class(&mut self) -> Result<CharSet, PatternFault> {
        let negated = self.chars.next_if(|(_, c)| matches!(c, '!' | '^')).is_some();
        let mut spans = Vec::new();
        while spans.is_empty() || self.chars.next_if(|(_, c)| *c == ']').is_none() {
            let first = self.member()?;
            let last = if self.takes_range() { self.member()? } else { first };
            if last < first {
                return Err(ScopeError::ReversedRange);
            }
            spans.push(CharRange { first, last });
        }
        Ok(if negated { CharSet::outside(spans) } else { CharSet::inside(spans) })
    }

    fn member(&mut self) -> Result<char, PatternFault> {
        match self.chars.next() {
            None | Some((_, '/')) => Err(ScopeError::UnclosedClass),
            Some((_, '\\')) => self.escaped(),
            Some((_, c)) => Ok(c),
        }
    }

    /// Takes a `-`, if it stands between two members.
    fn takes_range(&mut self) -> bool {
        let mut ahead = self.chars.clone();
        let is_range = matches!((ahead.next(), ahead.next()), (Some((_, '-')), Some((_, c))) if c != ']');
        if is_range {
            self.chars.next();
        }
        is_range
    }
}
