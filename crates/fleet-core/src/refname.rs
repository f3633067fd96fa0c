//! Which texts may name a branch or a revision.
//!
//! Checked before git is started: the text becomes an argument of a git command, where a leading dash would be
//! read as an option and a range would silently mean many commits. Git stays the judge of what exists.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefNameFault {
    Empty,
    /// It would be read as an option.
    LeadingDash,
    /// It already means the current commit.
    Reserved,
    Character(char),
    /// It contains a sequence that means something else to git: `..` is a range, `@{` a reflog entry.
    Sequence(&'static str),
    /// A part between slashes is empty.
    EmptyComponent,
    LeadingDot,
    /// A part between slashes ends with `.lock`, as the files do with which git locks a branch.
    LockSuffix,
    TrailingDot,
    /// It starts as the full names of refs do: git would take it and make `refs/heads/refs/heads/…` of it.
    FullName(&'static str),
}

impl fmt::Display for RefNameFault {
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be the name of a branch: {fault}")]
pub struct RefNameError {
    pub name: String,
    pub fault: RefNameFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot name a revision: {fault}")]
pub struct RevisionError {
    pub text: String,
    pub fault: RefNameFault,
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

/// Checks the name that a user chose for a branch: as [`check_ref_name`], and not the full name of a ref, a slip that
/// git would accept.
pub fn check_branch_name(name: &str) -> Result<(), RefNameError> {
    check_ref_name(name)?;
    match ["refs/heads/", "refs/"].into_iter().find(|prefix| name.starts_with(prefix)) {
        None => Ok(()),
        Some(prefix) => Err(RefNameError { name: name.to_owned(), fault: RefNameFault::FullName(prefix) }),
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

fn ref_name_fault(name: &str) -> Option<RefNameFault> {
    argument_fault(name)
        .or_else(|| matches!(name, "HEAD" | "@").then_some(RefNameFault::Reserved))
        .or_else(|| name.chars().find(|c| is_forbidden_in_branch(*c)).map(RefNameFault::Character))
        .or_else(|| ["..", "@{"].into_iter().find(|text| name.contains(text)).map(RefNameFault::Sequence))
        .or_else(|| name.split('/').find_map(component_fault))
        .or_else(|| name.ends_with('.').then_some(RefNameFault::TrailingDot))
}

fn revision_fault(text: &str) -> Option<RefNameFault> {
    argument_fault(text)
        .or_else(|| text.chars().find(|c| c.is_control() || c.is_whitespace()).map(RefNameFault::Character))
        .or_else(|| text.contains("..").then_some(RefNameFault::Sequence("..")))
}

/// What no positional argument may be.
fn argument_fault(text: &str) -> Option<RefNameFault> {
    match text.chars().next() {
        None => Some(RefNameFault::Empty),
        Some('-') => Some(RefNameFault::LeadingDash),
        Some(_) => None,
    }
}

/// Only ASCII is ruled out: git takes every byte above as part of a name.
fn is_forbidden_in_branch(c: char) -> bool {
    c.is_ascii_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
}

fn component_fault(component: &str) -> Option<RefNameFault> {
    if component.is_empty() {
        Some(RefNameFault::EmptyComponent)
    } else if component.starts_with('.') {
        Some(RefNameFault::LeadingDot)
    } else if component.as_bytes().ends_with(b".lock") {
        Some(RefNameFault::LockSuffix)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(name: &str) -> Option<RefNameFault> {
        check_ref_name(name).err().map(|error| error.fault)
    }

    fn revision(text: &str) -> Option<RefNameFault> {
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
            ("", RefNameFault::Empty),
            ("-d", RefNameFault::LeadingDash),
            ("HEAD", RefNameFault::Reserved),
            ("@", RefNameFault::Reserved),
            ("a b", RefNameFault::Character(' ')),
            ("a\nb", RefNameFault::Character('\n')),
            ("a\u{7f}", RefNameFault::Character('\u{7f}')),
            ("a..b", RefNameFault::Sequence("..")),
            ("a@{1}", RefNameFault::Sequence("@{")),
            ("/a", RefNameFault::EmptyComponent),
            ("a//b", RefNameFault::EmptyComponent),
            ("a/", RefNameFault::EmptyComponent),
            ("a/.b", RefNameFault::LeadingDot),
            ("a.lock/b", RefNameFault::LockSuffix),
            ("a.", RefNameFault::TrailingDot),
        ];
        for (name, fault) in cases {
            assert_eq!(branch(name), Some(fault), "{name:?}");
        }
        for c in "~^:?*[\\".chars() {
            assert_eq!(branch(&format!("a{c}")), Some(RefNameFault::Character(c)));
        }
    }

    #[test]
    fn a_revision_may_be_an_expression_but_not_an_option_or_a_range() {
        for text in ["main", "HEAD", "@", "HEAD~2", "v1^{commit}", "main@{1}", "origin/main", "a1b2c3d"] {
            assert_eq!(revision(text), None, "{text}");
        }
        assert_eq!(revision(""), Some(RefNameFault::Empty));
        assert_eq!(revision("--all"), Some(RefNameFault::LeadingDash));
        assert_eq!(revision("main..next"), Some(RefNameFault::Sequence("..")));
        assert_eq!(revision("main next"), Some(RefNameFault::Character(' ')));
        assert_eq!(revision("main\u{a0}"), Some(RefNameFault::Character('\u{a0}')));
        assert_eq!(revision("main\0"), Some(RefNameFault::Character('\0')));
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
