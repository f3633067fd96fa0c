//! Taking texts apart: words, the parts of names in code, and paths.

use std::collections::BTreeSet;

/// Words that say nothing about a task.
const EMPTY: [&str; 42] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "for", "from", "has",
    "have", "if", "in", "into", "is", "it", "its", "of", "on", "or", "our", "should", "so", "that", "the",
    "their", "then", "there", "this", "to", "was", "we", "were", "will", "with", "you", "your",
];

/// A longer run of letters is data, not a word.
const LONGEST_WORD: usize = 64;

/// Something in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextToken<'a> {
    Word {
        /// What it is compared by.
        stem: String,
        /// As written, in lower case.
        form: String,
    },
    /// A path or an address.
    Path(&'a str),
}

/// Hands on everything in a text that it can be compared by. A path is a path and the words in it.
pub(super) fn find(text: &str, each: &mut dyn FnMut(TextToken<'_>)) {
    for piece in
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | ',' | ';' | '<' | '>' | '|'))
    {
        let piece =
            piece.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '*' | '~'));
        let path = piece.trim_end_matches(['.', ':']).trim_start_matches("./");
        if is_path(path) {
            each(TextToken::Path(path.trim_end_matches('/')));
        }
        for name in piece.split(|c: char| !c.is_alphanumeric() && c != '_') {
            names(name, each);
        }
    }
}

/// `src/api/`, `/etc/hosts`, `a/b/c`, `main.rs`; not `and/or`, `I/O`, `e.g.`, `1.2`.
fn is_path(text: &str) -> bool {
    if text.len() > 512 || !text.contains(char::is_alphanumeric) {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending =
            (1..=8).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic());
        is_ending && ending.chars().all(|c| c.is_ascii_alphanumeric()) && stem.chars().count() > 1
    });
    has_ending
        || text.starts_with(['/', '~'])
        || (text.ends_with('/') && text.len() > 1)
        || text.matches('/').count() > 1
}

/// A name of code is itself and its parts: `parseHttpURL_v2` has `parse`, `http`, `url` and `v2`.
fn names(name: &str, each: &mut dyn FnMut(TextToken<'_>)) {
    let parts: Vec<&str> =
        name.split('_').flat_map(split_camel_case).filter(|part| !part.is_empty()).collect();
    for part in &parts {
        words(part, each);
    }
    if parts.len() > 1 {
        let whole = parts.concat().to_lowercase();
        if whole.chars().count() <= LONGEST_WORD {
            each(TextToken::Word { stem: whole.clone(), form: whole });
        }
    }
}

/// Cuts before a capital that begins a word: after a small letter, or before one at the end of an abbreviation.
fn split_camel_case(name: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let mut cuts = vec![0];
    for window in 1..letters.len() {
        let (before, (at, letter)) = (letters[window - 1].1, letters[window]);
        let next = letters.get(window + 1).map(|(_, next)| *next);
        let begins = letter.is_uppercase()
            && (before.is_lowercase()
                || before.is_numeric()
                || (before.is_uppercase() && next.is_some_and(char::is_lowercase)));
        if begins {
            cuts.push(at);
        }
    }
    cuts.push(name.len());
    cuts.windows(2).map(|cut| &name[cut[0]..cut[1]]).collect()
}

/// A word; or, in scripts that do not part words, every two neighbours.
fn words(part: &str, each: &mut dyn FnMut(TextToken<'_>)) {
    let form = part.to_lowercase();
    let count = form.chars().count();
    if form.chars().any(is_unparted) && count > 2 {
        let letters: Vec<char> = form.chars().collect();
        for pair in letters.windows(2) {
            let pair: String = pair.iter().collect();
            each(TextToken::Word { stem: pair.clone(), form: pair });
        }
    } else if count <= LONGEST_WORD && !EMPTY.contains(&form.as_str()) {
        each(TextToken::Word { stem: stem(&form), form });
    }
}

fn is_unparted(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The common beginning of the forms of an English word: `cache`, `caches`, `cached`, `caching`. Crude on purpose:
/// two words that fall together cost little, and other languages have their letters compared.
fn stem(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let has_vowel = |text: &str| text.len() > 2 && text.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let cut = |ending: &str| word.strip_suffix(ending).filter(|rest| has_vowel(rest));
    let rest = if let Some(rest) = cut("ing").or_else(|| cut("ed").filter(|rest| !rest.ends_with('e'))) {
        undoubled(rest)
    } else if let Some(rest) = cut("ies") {
        return format!("{rest}y");
    } else if let Some(rest) = cut("es") {
        rest
    } else if let Some(rest) = cut("s").filter(|rest| !rest.ends_with(['s', 'u', 'i'])) {
        rest
    } else {
        word
    };
    rest.strip_suffix('e').filter(|shorter| has_vowel(shorter)).unwrap_or(rest).to_owned()
}

/// `runn` is `run`; `pass` and `call` are themselves.
fn undoubled(word: &str) -> &str {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(a, b'l' | b's' | b'z' | b'e') => &word[..word.len() - 1],
        _ => word,
    }
}

/// All groups of three letters of a title, its beginning and end counting as blanks.
pub(super) fn trigrams(title: &str) -> BTreeSet<[char; 3]> {
    let blanks = [' '; 2].into_iter();
    let letters: Vec<char> = blanks.clone().chain(title.chars()).chain(blanks).collect();
    letters.array_windows().copied().collect()
}
