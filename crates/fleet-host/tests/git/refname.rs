//! The rules for branch names, which are pure and live in `fleet-core`, against `git check-ref-format --branch`.

use std::collections::BTreeSet;

use crate::sandbox::{Sandbox, git, try_git};
use fleet_core::refname::check_ref_name;

/// What the rules are about, in every order of two.
const FRAGMENTS: [&str; 13] = ["", "a", ".", "..", "/", "@", "{", ".lock", "-", "HEAD", "é", ".lock/", "a/."];

fn candidates() -> BTreeSet<String> {
    let pairs =
        FRAGMENTS.iter().flat_map(|first| FRAGMENTS.iter().map(move |second| format!("{first}{second}")));
    // An argument cannot contain NUL.
    let characters = (1..=0x80_u8).map(|byte| format!("a{}b", char::from(byte)));
    let whole =
        ["@{-1}", "a@{u}", "refs/heads/a", "a/b/c.lock", "x.lock/y", "a/-b", "a/HEAD", "a/@", "\u{a0}"];
    pairs.chain(characters).chain(whole.map(str::to_owned)).collect()
}

#[test]
fn branch_names_are_judged_as_git_judges_them() {
    let sandbox = Sandbox::new();
    let folder = sandbox.folder("main");
    git(&folder, &["init", "--quiet"]);
    for name in candidates() {
        let accepted = try_git(&folder, &["check-ref-format", "--branch", &name]).status.success();
        // The one point in which git's answer is of no use: it reads `@` as `HEAD` everywhere else.
        let expected = accepted && name != "@";
        assert_eq!(check_ref_name(&name).is_ok(), expected, "{name:?}");
    }
}
