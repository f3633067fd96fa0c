//! Tests of the pure parts.

use fleet_core::problem::Code;

use super::names::{check_apart, letters, slug, title};

#[test]
fn a_title_is_the_first_line_that_says_something() {
    let title = |prompt: &str| title(prompt).unwrap();
    assert_eq!(title("\n  Fix the login \nand more"), "Fix the login");
    assert_eq!(title("## Fix the login"), "Fix the login");
    assert_eq!(title("```demo\nwrite a.txt x\n```"), "write a.txt x");
    assert_eq!(title("tab\tand \u{1b}[31m"), "tab and  [31m");
    assert_eq!(title("???"), "???", "better than nothing");
    let long = title(&"word ".repeat(60));
    assert!(long.chars().count() <= 100 && long.ends_with("word…"), "{long}");
    for empty in ["", " \n\t\n"] {
        let problem = super::names::title(empty).unwrap_err();
        assert_eq!(problem.code, Code::InvalidValue);
        assert!(problem.to_string().contains("empty"), "{problem}");
    }
}

#[test]
fn a_made_name_has_the_first_words_and_can_be_typed() {
    let slug = |prompt: &str| slug(prompt).unwrap();
    assert_eq!(slug("Fix the flaky login test in CI, please"), "fix-the-flaky-login-test");
    assert_eq!(slug("Prüfe 漢字!"), "prüfe-漢字");
    assert_eq!(slug("???"), "fanout");
    assert_eq!(slug(&format!("a {}", "x".repeat(50))), "a", "no word is cut");
}

#[test]
fn letters_go_on_after_z() {
    let some: Vec<String> = [0, 1, 25, 26, 27, 51, 52, 99].map(letters).to_vec();
    assert_eq!(some, ["A", "B", "Z", "AA", "AB", "AZ", "BA", "CV"]);
    let all: std::collections::BTreeSet<String> = (0..1_000).map(letters).collect();
    assert_eq!(all.len(), 1_000);
}

#[test]
fn branches_of_one_launch_can_exist_side_by_side() {
    let check = |names: &[&str]| check_apart(names.iter().copied()).map_err(|problem| problem.to_string());
    assert_eq!(check(&["a", "a-b", "ab", "b/a", "b/b"]), Ok(()));
    assert_eq!(check(&["x", "a", "x"]), Err("the branch x is named twice".to_owned()));
    for names in [["a/b", "a", "a-b"], ["a", "a-b", "a/b"]] {
        assert_eq!(check(&names), Err("the branches a and a/b cannot exist side by side".to_owned()));
    }
}
