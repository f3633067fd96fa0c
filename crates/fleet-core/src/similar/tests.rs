//! What is alike, and what is not.

use proptest::prelude::*;

use super::words::{TextToken, find};
use super::{Corpus, Parts, Similarity, Text};

fn text(title: &str, body: &str) -> Text {
    Text::new(Parts { title, body })
}

fn found(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut stems, mut paths) = (Vec::new(), Vec::new());
    find(text, &mut |found| match found {
        TextToken::Word { stem, .. } => stems.push(stem),
        TextToken::Path(path) => paths.push(path.to_owned()),
    });
    (stems, paths)
}

fn compared(a: &Text, b: &Text) -> Similarity {
    Corpus::new([a, b]).compare(a, b)
}

#[test]
fn names_of_code_have_parts() {
    let stems = |text: &str| found(text).0;
    assert_eq!(stems("parseHttpURL_v2"), ["pars", "http", "url", "v2", "parsehttpurlv2"]);
    assert_eq!(stems("HTTPServer"), ["http", "server", "httpserver"]);
    assert_eq!(stems("The snake_case of it"), ["snak", "cas", "snakecase"]);
    assert_eq!(stems("größe ÄNDERN"), ["größe", "ändern"]);
    assert_eq!(stems("検索を直す"), ["検索", "索を", "を直", "直す"]);
    assert_eq!(stems(&"x".repeat(100)), Vec::<String>::new());
}

#[test]
fn forms_of_a_word_are_one() {
    let stems = |text: &str| found(text).0;
    for forms in [
        "cache caches cached caching",
        "run runs running",
        "test tests tested testing",
        "retry retries",
        "file files",
        "fix fixes fixed fixing",
        "class classes",
    ] {
        let all = stems(forms);
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{forms}: {all:?}");
    }
    assert_eq!(
        stems("string status speed analysis bus need"),
        ["string", "status", "speed", "analysis", "bus", "need"]
    );
}

#[test]
fn paths_are_kept_whole() {
    let paths = |text: &str| found(text).1;
    assert_eq!(
        paths("Look at `src/api/login.rs`, ./docs/ and /etc/hosts (also main.rs); see https://x.org/a/1."),
        ["src/api/login.rs", "docs", "/etc/hosts", "main.rs", "https://x.org/a/1"]
    );
    assert_eq!(paths("I/O and/or, e.g. 1.2 or x. Then: done..."), Vec::<String>::new());
}

#[test]
fn a_task_that_is_there_twice_is_found() {
    let backlog = [
        text("Fix the flaky login test", "tests/login.rs fails once in a while on CI: the session expires."),
        text("Document the API", "Every endpoint in docs/api.md, with an example."),
        text("Cache the results of searches", "Searches take a second; keep the last hundred."),
        text("Upgrade the parser to version 3", ""),
    ];
    let corpus = Corpus::new(&backlog);
    let score = |title: &str, body: &str, of: usize| corpus.compare(&text(title, body), &backlog[of]).score;
    assert!(score("Login test is flaky, fix it", "", 0) > 0.6);
    assert!(score("Fix teh flakey login tset", "", 0) > 0.5, "typing errors");
    assert!(
        score("Make the login test stable", "tests/login.rs fails sometimes on CI, the session expires", 0)
            > 0.5
    );
    assert!(score("Caching search results", "", 2) > 0.5);
    assert!(score("Upgrade the parser to version 3", "Something else entirely about parsing.", 3) > 0.8);
    for (of, other) in [(1, "Fix the flaky login test"), (0, "Document the API"), (3, "Cache the searches")] {
        assert!(score(other, "", of) < 0.3, "{other}: {}", score(other, "", of));
    }
    let likeness = corpus.compare(&text("Stabilise login", "see tests/login.rs"), &backlog[0]);
    assert_eq!(likeness.paths, ["tests/login.rs"]);
    assert!(likeness.words.contains(&"login".to_owned()), "{likeness:?}");
}

#[test]
fn a_search_finds_words_beginnings_labels_and_folders() {
    let one = text("Authentication for the API", "The token lies in src/auth/token.rs.")
        .with(["security"].into_iter(), ["src/auth/**"].into_iter());
    let two = text("Write release notes", "Mention the new authentication.");
    let corpus = Corpus::new([&one, &two]);
    let score = |query: &str, text: &Text| corpus.relevance(&Text::typed(query), text).score;
    assert!((score("api authentication", &one) - 1.0).abs() < 1e-9);
    assert!(score("authentication", &one) > score("authentication", &two), "a title says more");
    assert!(score("auth", &two) > 0.3, "the beginning of a word");
    assert!(score("security", &one) > 0.8 && score("security", &two) < 0.001);
    assert!(score("src/auth/", &one) > 0.5 && score("token.rs", &one) > 0.5);
    assert!(score("", &one) < 0.001 && score("the of", &one) < 0.001);
    assert!(Text::typed("the, of!").is_empty());
}

proptest! {
    #[test]
    fn likeness_is_mutual_bounded_and_whole_for_equals(
        texts in prop::collection::vec(("\\PC{0,30}", "[a-zA-Z_ ./\n]{0,80}"), 2..5),
    ) {
        let texts: Vec<Text> = texts.iter().map(|(title, body)| text(title, body)).collect();
        let corpus = Corpus::new(&texts);
        for a in &texts {
            prop_assert!((corpus.compare(a, a).score - 1.0).abs() < f64::EPSILON);
            for b in &texts {
                let (one, other) = (corpus.compare(a, b), corpus.compare(b, a));
                                prop_assert!((0.0..=1.0).contains(&one.score));
                prop_assert_eq!(&one, &other);
                prop_assert!((0.0..=1.0).contains(&corpus.relevance(a, b).score));
            }
        }
    }

    #[test]
    fn a_word_of_the_title_is_always_found(title in "[a-z]{3,9}( [a-z]{3,9}){0,5}", at in 0..6_usize) {
        let one = text(&title, "");
        let words: Vec<&str> = title.split(' ').collect();
        let query = Text::typed(words[at % words.len()]);
        let corpus = Corpus::new([&one]);
        prop_assert!(query.is_empty() || corpus.relevance(&query, &one).score > 0.99);
    }

    #[test]
    fn texts_without_a_letter_in_common_are_not_alike(a in "[a-m]{3,20}", b in "[n-z]{3,20}") {
        prop_assert!(compared(&text(&a, &a), &text(&b, &b)).score < 0.001);
    }
}
