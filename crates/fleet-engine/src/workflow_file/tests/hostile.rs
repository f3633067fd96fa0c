use std::fmt::Write as _;

use proptest::prelude::*;

use super::{World, task};
use crate::workflow_file::{FileFormat, written};

#[test]
fn depth_is_bounded_in_every_format() {
    let world = World::new();
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(5_000), close.repeat(5_000));
    for (name, text) in [
        ("a.json", deep("[", "]")),
        ("a.json", deep("{\"a\":", "}")),
        ("a.json", format!("{{\"stages\":{}{}}}", "[".repeat(60), "]".repeat(60))),
        ("a.yaml", deep("[", "]")),
        ("a.yaml", deep("{a: ", "}")),
        ("a.yaml", format!("x: {}{}", "[".repeat(60), "]".repeat(60))),
        ("a.yaml", (0..2_000).map(|depth| " ".repeat(depth) + "a:").collect::<Vec<_>>().join("\n")),
        ("a.yaml", "- ".repeat(20_000)),
        ("a.yaml", "? ".repeat(20_000)),
        ("a.toml", format!("x = {}", deep("[", "]"))),
        ("a.toml", format!("x = {}{}", "[".repeat(60), "]".repeat(60))),
        ("a.toml", format!("{}x = 1", "a.".repeat(5_000))),
    ] {
        let said = world.wrong(name, &text);
        assert!(
            said.contains("nests") || said.contains("not valid"),
            "{name}: {}",
            &said[..said.len().min(300)]
        );
    }
}

#[test]
fn copies_of_copies_are_counted_out() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{inner}]").unwrap();
    }
    let said = World::new().wrong("a.yaml", &bomb);
    assert!(said.contains("with its aliases expanded, the file is too large"), "{said}");
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 100].join(","));
    assert!(World::new().wrong("a.yaml", &long).contains("too large"));
}

#[test]
fn many_flaws_are_told_in_part_and_quickly() {
    let world = World::new();
    let needs: Vec<String> = (0..40_000).map(|number| format!("\"stage{number}\"")).collect();
    let text = format!("[stages.stage]\nprompt = 'x'\nneeds = [{}]\n", needs.join(","));
    let said = world.wrong("a.toml", &text);
    assert_eq!(said.matches("there is no stage").count(), 100);
    assert!(said.contains("a.toml: and 399"), "{}", &said[said.len() - 100..]);
    let stages: Vec<String> = (0..20_000).map(|number| format!("[stages.s{number}]")).collect();
    assert!(world.wrong("a.toml", &stages.join("\n")).contains("20000 stages, at most 500 are allowed"));
    let flat = format!("a: [{}]\n", "b, ".repeat(49_000));
    assert!(world.wrong("a.yaml", &flat).contains("unknown key `a`"));
    let long = format!("a: {}\n", "b ".repeat(500_000));
    assert!(world.wrong("a.yaml", &long).contains("unknown key `a`"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), format in 0..3_usize) {
        let _ = World::new().load(["a.toml", "a.yaml", "a.json"][format], &text, &task());
    }

    /// Pieces of the languages in any order: what parses is mostly wrong in some interesting way.
    #[test]
    fn no_mixture_of_its_words_makes_it_panic(
        words in proptest::collection::vec(prop::sample::select(vec![
            "stages", "a", "[stages.a]", "\n", "\n  ", "\n    ", ": ", " = ", "{", "}", "[", "]", ",", "\"", "'", "prompt",
            "needs", "foreach", "count", "when", "checks", "limits", "params", "a.items", "3", "true", "null", "&x ", "*x",
            "|\n", "- ", "{a.summary}", "ü😀", "\\", "\"\"\"", "depends_on", "timeout", "\r\n", "\t", "#", "!", "\u{0}",
        ]), 0..60),
        format in 0..3_usize,
    ) {
        let _ = World::new().load(["a.toml", "a.yaml", "a.json"][format], &words.concat(), &task());
    }

    /// Any one piece of a good file taken out or doubled.
    #[test]
    fn no_damage_makes_it_panic(
        which in 0..5_usize, format in 0..3_usize, at in any::<prop::sample::Index>(), length in 0..40_usize, twice in any::<bool>(),
    ) {
        let format = [FileFormat::Toml, FileFormat::Yaml, FileFormat::Json][format];
        let text = written(crate::workflow_file::SHIPPED[which].text, format);
        let bytes = text.as_bytes();
        let start = at.index(bytes.len());
        let end = (start + length).min(bytes.len());
        let keep = if twice { &bytes[start..end] } else { &[] };
        let before = if twice { end } else { start };
        let damaged = [&bytes[..before], keep, &bytes[end..]].concat();
        let name = format!("a.{}", format.end());
        let _ = World::new().load(&name, &String::from_utf8_lossy(&damaged), &task());
    }
}
