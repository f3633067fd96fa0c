//! Which texts may name a branch or a revision.
//!
//! Checked before git is started: the text becomes an argument of a git command, where a leading dash would be
//! read as an option and a range would silently mean many commits. Git stays the judge of what exists.

use std::fmt;

/// Why a text cannot name a branch or a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is no text.
    Empty,
    /// It would be read as an option.
    LeadingDash,
    /// It already means the current commit.
    Reserved,
    /// It contains a character that is not allowed.
    Character(char),
    /// It contains a sequence that means something else to git: `..` is a range, `@{` a reflog entry.
    Sequence(&'static str),
    /// A part between slashes is empty.
    EmptyComponent,
    /// A part between slashes starts with a dot.
    LeadingDot,
    /// A part between slashes ends with `.lock`, as the files do with which git locks a branch.
    LockSuffix,
    /// It ends with a dot.
    TrailingDot,
    /// It starts as the full names of refs do: git would take it and make `refs/heads/refs/heads/…` of it.
    FullName(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::LeadingDash => f.write_str("it starts with a dash"),
            Self::Reserved => f.write_str("it already means the current commit"),
            Self::Character(c) => write!(f, "it contains {c:?}"),
            Self::Sequence(text) => write!(f, "it contains {text:?}"),
            Self::EmptyComponent => f.write_str("a part between slashes is empty"),
            Self::LeadingDot => f.write_str("a part between slashes starts with a dot"),
            Self::LockSuffix => f.write_str("a part between slashes ends with \".lock\""),
            Self::TrailingDot => f.write_str("it ends with a dot"),
            Self::FullName(prefix) => write!(f, "leave out {prefix:?}"),
        }
    }
}

/// The text cannot be the name of a branch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be the name of a branch: {fault}")]
pub struct RefNameError {
    /// The text.
    pub name: String,
    /// The first rule that it breaks.
    pub fault: Fault,
}

/// The text cannot name a revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot name a revision: {fault}")]
pub struct RevisionError {
    /// The text.
    pub text: String,
    /// The first rule that it breaks.
    pub fault: Fault,
}

/// Checks that a new branch may have this name, by the rules of `git check-ref-format --branch`.
///
/// Stricter in one point: a branch named `@` passes there, but can never be reached afterwards because every
/// other command reads `@` as `HEAD`.
pub fn check_ref_name(name: &str) -> Result<(), RefNameError> {
    match ref_name_fault(name) {
        None => Ok(()),
        Some(fault) => Err(RefNameError { name: name.to_owned(), fault }),
    }
}

/// Checks the name that somebody chose for a branch: as [`check_ref_name`], and no full name of a ref, which is a slip
/// that git would take.
pub fn check_branch_name(name: &str) -> Result<(), RefNameError> {
    check_ref_name(name)?;
    match ["refs/heads/", "refs/"].into_iter().find(|prefix| name.starts_with(prefix)) {
        None => Ok(()),
        Some(prefix) => Err(RefNameError { name: name.to_owned(), fault: Fault::FullName(prefix) }),
    }
}

/// Checks that a text given as the base of some work can be handed to git to be resolved to one commit.
///
/// Names, ids and expressions such as `HEAD~2`, `v1^{commit}` or `main@{yesterday}` pass; whether they resolve is
/// for git to say.
pub fn check_revision(text: &str) -> Result<(), RevisionError> {
    match revision_fault(text) {
        None => Ok(()),
        Some(fault) => Err(RevisionError { text: text.to_owned(), fault }),
    }
}

fn ref_name_fault(name: &str) -> Option<Fault> {
    argument_fault(name)
        .or_else(|| matches!(name, "HEAD" | "@").then_some(Fault::Reserved))
        .or_else(|| name.chars().find(|c| is_forbidden_in_branch(*c)).map(Fault::Character))
        .or_else(|| ["..", "@{"].into_iter().find(|text| name.contains(text)).map(Fault::Sequence))
        .or_else(|| name.split('/').find_map(component_fault))
        .or_else(|| name.ends_with('.').then_some(Fault::TrailingDot))
}

fn revision_fault(text: &str) -> Option<Fault> {
    argument_fault(text)
        .or_else(|| text.chars().find(|c| c.is_control() || c.is_whitespace()).map(Fault::Character))
        .or_else(|| text.contains("..").then_some(Fault::Sequence("..")))
}

/// What no positional argument may be.
fn argument_fault(text: &str) -> Option<Fault> {
    match text.chars().next() {
        None => Some(Fault::Empty),
        Some('-') => Some(Fault::LeadingDash),
        Some(_) => None,
    }
}

/// Only ASCII is ruled out: git takes every byte above as part of a name.
fn is_forbidden_in_branch(c: char) -> bool {
    c.is_ascii_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
}

fn component_fault(component: &str) -> Option<Fault> {
    if component.is_empty() {
        Some(Fault::EmptyComponent)
    } else if component.starts_with('.') {
        Some(Fault::LeadingDot)
    } else if component.as_bytes().ends_with(b".lock") {
        Some(Fault::LockSuffix)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(name: &str) -> Option<Fault> {
        check_ref_name(name).err().map(|error| error.fault)
    }

    fn revision(text: &str) -> Option<Fault> {
        check_revision(text).err().map(|error| error.fault)
    }

    #[test]
    fn ordinary_branch_names_pass() {
        for name in
            ["main", "fleet/t1-fix", "a./b", "HEAD/a", "a-", "@a", "a@", "{", "naïve/名", "a.locks", "lock"]
        {
            assert_eq!(branch(name), None, "{name}");
        }
    }

    #[test]
    fn each_rule_for_branches_is_named() {
        let cases = [
            ("", Fault::Empty),
            ("-d", Fault::LeadingDash),
            ("HEAD", Fault::Reserved),
            ("@", Fault::Reserved),
            ("a b", Fault::Character(' ')),
            ("a\nb", Fault::Character('\n')),
            ("a\u{7f}", Fault::Character('\u{7f}')),
            ("a..b", Fault::Sequence("..")),
            ("a@{1}", Fault::Sequence("@{")),
            ("/a", Fault::EmptyComponent),
            ("a//b", Fault::EmptyComponent),
            ("a/", Fault::EmptyComponent),
            ("a/.b", Fault::LeadingDot),
            ("a.lock/b", Fault::LockSuffix),
            ("a.", Fault::TrailingDot),
        ];
        for (name, fault) in cases {
            assert_eq!(branch(name), Some(fault), "{name:?}");
        }
        for c in "~^:?*[\\".chars() {
            assert_eq!(branch(&format!("a{c}")), Some(Fault::Character(c)));
        }
    }

    #[test]
    fn a_revision_may_be_an_expression_but_not_an_option_or_a_range() {
        for text in ["main", "HEAD", "@", "HEAD~2", "v1^{commit}", "main@{1}", "origin/main", "a1b2c3d"] {
            assert_eq!(revision(text), None, "{text}");
        }
        assert_eq!(revision(""), Some(Fault::Empty));
        assert_eq!(revision("--all"), Some(Fault::LeadingDash));
        assert_eq!(revision("main..next"), Some(Fault::Sequence("..")));
        assert_eq!(revision("main next"), Some(Fault::Character(' ')));
        assert_eq!(revision("main\u{a0}"), Some(Fault::Character('\u{a0}')));
        assert_eq!(revision("main\0"), Some(Fault::Character('\0')));
    }

    #[test]
    fn a_full_name_is_not_chosen_for_a_branch() {
        let said = |name| check_branch_name(name).err().map(|error| error.to_string());
        assert_eq!(said("refs"), None);
        assert_eq!(said("fix/refs/heads/x"), None);
        assert_eq!(
            said("refs/heads/x").unwrap(),
            r#""refs/heads/x" cannot be the name of a branch: leave out "refs/heads/""#
        );
        assert!(said("refs/tags/x").unwrap().ends_with(r#"leave out "refs/""#));
        assert!(said("a..b").is_some(), "what git refuses is refused, too");
    }

    #[test]
    fn messages_show_what_cannot_be_seen() {
        let error = check_ref_name("a\tb").unwrap_err();
        assert_eq!(error.to_string(), r#""a\tb" cannot be the name of a branch: it contains '\t'"#);
        let error = check_revision("a..b").unwrap_err();
        assert_eq!(error.to_string(), r#""a..b" cannot name a revision: it contains "..""#);
    }
}
