//! Examples by table, and the laws: exhaustively where the world is small, at random where it is not.

use globset::{GlobBuilder, GlobMatcher};
use proptest::prelude::*;
use proptest::sample::select;

use super::pattern::PatternFault;
use super::*;

fn scope(pattern: &str) -> FileScope {
    FileScope::parse([pattern]).unwrap_or_else(|error| panic!("{error}"))
}

/// A pattern, paths that it covers, and paths that it does not.
const COVERAGE: &[(&str, &[&str], &[&str])] = &[
    (
        "src/api",
        &["src/api", "src/api/", "src/api/x/y.rs", "./src//api/x"],
        &["src", "src/apis", "x/src/api"],
    ),
    ("src/api/**", &["src/api", "src/api/x/y.rs"], &["src", "src/apis/x"]),
    ("*.rs", &["lib.rs", ".rs", "odd.rs/below"], &["src/lib.rs", "lib.RS", "lib.rsx"]),
    ("**/*.rs", &["lib.rs", "a/b/lib.rs"], &["a/b/lib.r", "rs"]),
    ("a/**/z", &["a/z", "a/b/z", "a/b/c/z/below"], &["a/b", "z", "az"]),
    ("a**z", &["az", "abz"], &["a/z", "a/b/z"]),
    ("a/*", &["a/b", "a/b/c"], &["a", "a/"]),
    ("?", &["a", "é", "日"], &["ab", "."]),
    ("*", &["a", ".hidden", "a/b", "a\nb"], &["", ".", "..", "/a", "../a", "a/../b", "a\0"]),
    (".", &["a", "a/b"], &["", ".", "/", "/a"]),
    ("[a-cx]1", &["a1", "b1", "x1"], &["d1", "-1", "A1"]),
    ("[!a-c]1", &["d1", "-1", "é1"], &["a1", "1", "/1"]),
    ("[^a]", &["b", "^"], &["a"]),
    ("[]-]", &["]", "-"], &["a", "[]-]"]),
    (r"[\]a]", &["]", "a"], &["\\"]),
    ("x[+-9]y", &["x+y", "x.y", "x0y"], &["x/y"]),
    ("{src,docs}/*.md", &["src/a.md", "docs/a.md"], &["a.md", "src,docs/a.md"]),
    ("a{b,{c,d/e}f,}g", &["abg", "acfg", "ad/efg", "ag"], &["acg", "ad/eg", "abcfg"]),
    ("src{,/**/test}/x", &["src/x", "src/test/x", "src/a/test/x"], &["src/a/x", "x"]),
    ("{[,}],b}", &[",", "}", "b"], &["[", "{"]),
    ("a,b]", &["a,b]"], &["a", "b]"]),
    (r"\*\{a\}\[", &["*{a}["], &["x{a}["]),
];

#[test]
fn patterns_cover_paths() {
    for (pattern, covered, free) in COVERAGE {
        let scope = scope(pattern);
        for path in *covered {
            assert!(scope.matches(path), "{pattern} must cover {path:?}");
        }
        for path in *free {
            assert!(!scope.matches(path), "{pattern} must not cover {path:?}");
        }
    }
}

#[test]
fn patterns_overlap() {
    let table = [
        ("src/api", "src/api/x.rs", true),
        ("src/api", "src/apis", false),
        ("src/*/mod.rs", "src/api/**", true),
        ("*.rs", "src/lib.rs", false),
        ("*.rs", "lib.*", true),
        ("**/*.rs", "docs", true),
        ("docs/*.md", "docs/*.rs", false),
        ("docs/*.md", "docs/*.rs/notes", false),
        ("docs/*.md", "docs/a*/notes", true),
        ("**/a/**/b", "a/x", true),
        ("a/**/b", "c/**/b", false),
        ("a?c", "*b*", true),
        ("a?c", "a/c", false),
        ("[a-m]*", "[n-z]*", false),
        ("[a-m]*", "[m-z]*", true),
        ("[!a]", "a", false),
        ("[!a-y]", "[!z]", true),
        ("x[+-9]", "x[.-0]", true),
        ("x[+-9]", "x/y", false),
        ("[!a-z]x", "[A-Z]x", true),
        ("[+-.]", "[,-.]", true),
        ("[^\u{e000}-\u{10ffff}]", "\u{e000}", false),
        ("{a,b}/x", "{b,c}/x", true),
        ("{a,b}/x", "{c,d}/x", false),
        (".", "a/b", true),
        ("SRC", "src", false),
        // What they have in common are only `.` and `..`, which are not names.
        ("[.a]", "[.b]", false),
        (".?", "?.", false),
        (".?*", "?.*", true),
    ];
    for (left, right, expected) in table {
        assert_eq!(scope(left).overlaps(&scope(right)), expected, "{left} and {right}");
        assert_eq!(scope(right).overlaps(&scope(left)), expected, "{right} and {left}");
    }
}

#[test]
fn a_scope_overlaps_through_any_of_its_patterns() {
    let ours = FileScope::parse(["docs", "src/*.rs"]).unwrap();
    assert!(ours.overlaps(&FileScope::parse(["web", "src/lib.*"]).unwrap()));
    assert!(!ours.overlaps(&FileScope::parse(["web", "src/*.md"]).unwrap()));
}

#[test]
fn an_empty_scope_claims_nothing() {
    let empty = FileScope::default();
    assert!(empty.is_empty());
    assert!(!empty.matches("a"));
    assert!(!empty.overlaps(&empty));
    assert!(!empty.overlaps(&scope(".")));
    assert!(!scope(".").overlaps(&empty));
    assert_eq!(FileScope::parse(Vec::<String>::new()), Ok(empty));
}

#[test]
fn patterns_are_tidied_and_kept_once_in_order() {
    let scope =
        FileScope::parse(["src/", "./docs//*.md", "src", "././src/./", "./", r"a\.", "{a//b,./c}/"]).unwrap();
    let tidied = ["src", "docs/*.md", ".", r"a\.", "{a//b,./c}"];
    assert_eq!(scope.patterns().collect::<Vec<_>>(), tidied);
    assert_eq!(FileScope::parse(tidied), Ok(scope.clone()));
    assert_eq!(format!("{scope:?}"), r#"FileScope["src", "docs/*.md", ".", "a\\.", "{a//b,./c}"]"#);
}

/// Patterns that are none, and why.
const REFUSED: &[(&str, PatternFault)] = &[
    ("", ScopeError::Empty),
    ("  ", ScopeError::Empty),
    ("{,a}", ScopeError::Empty),
    ("{}", ScopeError::Empty),
    ("/", ScopeError::Absolute),
    ("/etc", ScopeError::Absolute),
    ("{a,/b}", ScopeError::Absolute),
    ("{,a}/b", ScopeError::Absolute),
    ("..", ScopeError::Parent),
    ("a/../b", ScopeError::Parent),
    ("a/{b,.}.", ScopeError::Parent),
    (r"\../a", ScopeError::Parent),
    ("[.].", ScopeError::Parent),
    ("a\nb", ScopeError::Control),
    ("a\0", ScopeError::Control),
    ("a\\", ScopeError::DanglingEscape),
    (r"a\/b", ScopeError::DanglingEscape),
    (r"[a\", ScopeError::DanglingEscape),
    ("[abc", ScopeError::UnclosedClass),
    ("[]", ScopeError::UnclosedClass),
    ("[!]", ScopeError::UnclosedClass),
    ("[a-", ScopeError::UnclosedClass),
    ("[a/b]", ScopeError::UnclosedClass),
    ("[.-/]", ScopeError::UnclosedClass),
    ("[z-a]", ScopeError::ReversedRange),
    ("{a,b", ScopeError::UnclosedBrace),
    ("{a,{b}", ScopeError::UnclosedBrace),
    ("{a,[}]", ScopeError::UnclosedBrace),
    ("a}", ScopeError::UnopenedBrace),
    ("{0,1}{0,1}{0,1}{0,1}{0,1}{0,1}{0,1}", ScopeError::TooManyAlternatives),
];

#[test]
fn wrong_patterns_are_refused_by_name() {
    for (pattern, error) in REFUSED {
        assert_eq!(FileScope::parse(["ok", pattern]), Err(error((*pattern).to_owned())), "{pattern:?}");
    }
    let messages = REFUSED.iter().map(|(pattern, error)| error((*pattern).to_owned()).to_string());
    insta::assert_snapshot!(messages.collect::<Vec<_>>().join("\n"));
}

#[test]
fn sizes_are_bounded() {
    let name = |index: usize| format!("file-{index}");
    assert!(FileScope::parse((0..64).map(name)).is_ok());
    assert_eq!(FileScope::parse((0..65).map(name)), Err(ScopeError::TooManyPatterns("file-64".to_owned())));
    assert!(FileScope::parse((0..100).map(|index| name(index % 64))).is_ok());

    let long = "é".repeat(256);
    assert!(FileScope::parse([&long]).is_ok());
    let error = FileScope::parse([format!("{long}x")]).unwrap_err();
    let start = "é".repeat(48);
    assert_eq!(
        error.to_string(),
        format!("the file pattern that starts with {start:?} is longer than 512 bytes")
    );

    let many = format!("{{{}}}", ["a"; 64].join(","));
    assert!(FileScope::parse([&many]).is_ok());
    assert_eq!(scope("{0,1}{0,1}{0,1}{0,1}{0,1}{0,1}").globs().count(), 64);

    let large = format!("{}{{0,1}}{{0,1}}{{0,1}}{{0,1}}{{0,1}}{{0,1}}", "x".repeat(200));
    assert_eq!(FileScope::parse([&large]), Err(ScopeError::TooLarge(large)));
}

#[test]
fn nesting_does_not_cost_stack_or_time() {
    let deep = format!("{}a{}", "{".repeat(255), "}".repeat(255));
    assert!(scope(&deep).matches("a"));
    assert_eq!(FileScope::parse(["{".repeat(512)]), Err(ScopeError::UnclosedBrace("{".repeat(512))));
    let wide = "{{a,b},{c,d},{e,{f,g}}}".repeat(20);
    assert_eq!(FileScope::parse([&wide]), Err(ScopeError::TooManyAlternatives(wide)));
}

#[test]
fn json_is_a_list_of_patterns_and_is_checked() {
    let scope = FileScope::parse(["src/api", "*.md"]).unwrap();
    let json = serde_json::to_string(&scope).unwrap();
    assert_eq!(json, r#"["src/api","*.md"]"#);
    assert_eq!(serde_json::from_str::<FileScope>(&json).unwrap(), scope);
    let error = serde_json::from_str::<FileScope>(r#"["/etc"]"#).unwrap_err();
    assert!(error.to_string().starts_with("the file pattern `/etc` starts at `/`"), "{error}");
}

#[test]
fn hostile_patterns_cost_no_more_than_the_product_of_their_lengths() {
    let hostile = [
        ("*a*a*a*a*a*a*a*a*b".to_owned(), "*b*b*b*b*b*b*b*b*a".to_owned()),
        (format!("{}b", "*a".repeat(255)), format!("{}c", "a*".repeat(255))),
        (format!("{}b", "**/a/".repeat(100)), format!("{}c/*", "**/a/".repeat(100))),
        (format!("{}b", "**/*a*a/".repeat(60)), format!("{}c", "**/a*?*/".repeat(60))),
        (format!("{}x", "[a-z0-9]*".repeat(50)), format!("{}y", "*[!b-y]".repeat(60))),
    ];
    for (left, right) in hostile {
        let mut search = OverlapSearch::default();
        scope(&left).search(&scope(&right), &mut search);
        let bound = 4 * (left.len() + 1) * (right.len() + 1);
        assert!(search.explored <= bound, "{} states for {left} and {right}", search.explored);
    }
    assert!(!scope(&format!("{}b", "*a".repeat(255))).matches(&"a".repeat(4000)));
    assert!(!scope(&format!("{}b", "**/a/".repeat(100))).matches(&"a/".repeat(400)));
}

/// Every text of up to `length` of the pieces.
fn texts(pieces: &[&str], length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..length {
        let longer: Vec<String> = all[from..]
            .iter()
            .flat_map(|start| pieces.iter().map(move |piece| format!("{start}{piece}")))
            .collect();
        from = all.len();
        all.extend(longer);
    }
    all
}

/// Holds `overlaps` against what it means: all paths of a small world, tried one by one with `matches`.
fn overlap_means_a_common_path(pieces: &[&str], length: usize, alphabet: &[&str], path_length: usize) {
    let mut paths = texts(alphabet, path_length);
    paths.retain(|path| !path.starts_with('/') && !path.ends_with('/') && !path.contains("//"));
    let mut scopes: Vec<(FileScope, Vec<bool>)> = Vec::new();
    for text in texts(pieces, length) {
        if let Ok(scope) = FileScope::parse([&text])
            && scopes.iter().all(|(known, _)| *known != scope)
        {
            let covered = paths.iter().map(|path| scope.matches(path)).collect();
            scopes.push((scope, covered));
        }
    }
    for (left, covered_left) in &scopes {
        for (right, covered_right) in &scopes {
            let common = covered_left.iter().zip(covered_right).position(|(l, r)| *l && *r);
            let path = common.map(|at| &paths[at]);
            assert_eq!(left.overlaps(right), path.is_some(), "{left:?} and {right:?}: {path:?}");
        }
    }
}

#[test]
fn overlap_is_exact_in_a_world_of_two_letters() {
    overlap_means_a_common_path(&["a", "b", "?", "*", "/", "**/", "[!a]"], 3, &["a", "b", "/"], 7);
}

#[test]
fn overlap_is_exact_around_dots() {
    overlap_means_a_common_path(&["a", ".", "?", "*", "[.a]", "[!.]"], 3, &["a", "b", "."], 5);
}

#[test]
fn overlap_is_exact_with_braces() {
    overlap_means_a_common_path(&["a", "{a,b}", "{,*/}b", "/", "*", "{**,b}/"], 3, &["a", "b", "/"], 7);
}

/// A component, made of pieces that globset understands in the same way; to it, `?` is a byte, hence only ASCII.
fn component() -> impl Strategy<Value = String> {
    let pieces = ["a", "b", "ab", ".", "?", "*", "[ab]", "[a-c]", "[!a]", "{a,b}", "{a,{b,c}?}", r"\*", "-"];
    let name = proptest::collection::vec(select(pieces.to_vec()), 1..5)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("not the same directory", |name| name != ".");
    prop_oneof![4 => name, 1 => Just("**".to_owned())]
}

fn pattern() -> impl Strategy<Value = String> {
    proptest::collection::vec(component(), 1..4)
        .prop_map(|components| components.join("/"))
        .prop_filter("a valid pattern", |text| FileScope::parse([text]).is_ok())
}

fn any_scope() -> impl Strategy<Value = FileScope> {
    proptest::collection::vec(pattern(), 0..4).prop_map(|patterns| FileScope::parse(patterns).unwrap())
}

fn path() -> impl Strategy<Value = String> {
    let name = "[abc*.-]{1,4}".prop_filter("a name", |name| !matches!(name.as_str(), "." | ".."));
    proptest::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

fn oracle(pattern: &str) -> GlobMatcher {
    // There, a class that does not name the slash matches it in spite of `literal_separator`.
    let pattern = &pattern.replace("[!a]", "[!a/]");
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .unwrap()
        .compile_matcher()
}

/// The path and every directory above it.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).chain([path])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn overlap_is_symmetric(left in any_scope(), right in any_scope()) {
        prop_assert_eq!(left.overlaps(&right), right.overlaps(&left));
    }

    #[test]
    fn a_scope_overlaps_itself_unless_it_is_empty(scope in any_scope()) {
        prop_assert_eq!(scope.overlaps(&scope), !scope.is_empty());
    }

    #[test]
    fn a_path_in_both_makes_them_overlap(left in any_scope(), right in any_scope(), path in path()) {
        if left.matches(&path) && right.matches(&path) {
            prop_assert!(left.overlaps(&right));
        }
    }

    #[test]
    fn a_scope_overlaps_every_path_that_it_covers(scope in any_scope(), path in path()) {
        let literal = FileScope::parse([path.replace('*', r"\*")]).unwrap();
        prop_assert!(literal.matches(&path));
        prop_assert!(!scope.matches(&path) || scope.overlaps(&literal));
    }

    #[test]
    fn matching_agrees_with_globset(pattern in pattern(), path in path()) {
        // Unlike here, `a/**` does not match `a` itself there.
        let plain = pattern.trim_end_matches("/**");
        let expected = plain == "**" || ancestors(&path).any(|above| oracle(plain).is_match(above));
        prop_assert_eq!(scope(&pattern).matches(&path), expected, "{} and {}", pattern, path);
    }

    #[test]
    fn text_never_panics_and_parses_back(text in r"[a/.*?{},\[\]\\!^-]{0,12}") {
        if let Ok(scope) = FileScope::parse([&text]) {
            prop_assert_eq!(FileScope::parse(scope.patterns()), Ok(scope));
        }
    }
}
