//! Takes secrets out of what an agent prints, before it reaches a disk or a screen.
//!
//! A secret is masked byte by byte, so that positions in the output stay what they were.

/// Shorter values are words that occur by chance: masking them would make output unreadable and protect nothing.
const SHORTEST: usize = 8;

/// Masks known values in a stream that comes in pieces.
pub struct Redactor {
    secrets: Vec<Vec<u8>>,
    /// The end of the stream so far, when it looks like the beginning of a secret.
    held: Vec<u8>,
}

impl Redactor {
    /// A secret with quotes, backslashes or several lines is also found as it is inside JSON, which most agents print.
    pub fn new(secrets: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let long = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST);
        let secrets =
            long.flat_map(|secret| in_json(&secret).into_iter().chain([secret]).collect::<Vec<_>>());
        Self { secrets: secrets.collect(), held: Vec::new() }
    }

    /// Takes the next piece; gives what cannot be part of a secret any more.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.mask();
        let rest = self.held.split_off(self.held.len() - self.begun());
        std::mem::replace(&mut self.held, rest)
    }

    /// What is left at the end.
    pub fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// How many bytes at the end are the beginning of a secret.
    fn begun(&self) -> usize {
        let of = |secret: &Vec<u8>| {
            (1..secret.len()).rev().find(|count| self.held.ends_with(&secret[..*count])).unwrap_or(0)
        };
        self.secrets.iter().map(of).max().unwrap_or(0)
    }

    fn mask(&mut self) {
        for secret in &self.secrets {
            let mut from = 0;
            while let Some(at) = find(&self.held[from..], secret) {
                self.held[from + at..from + at + secret.len()].fill(b'*');
                from += at + secret.len();
            }
        }
    }
}

/// How a text looks inside a JSON string; none if it looks the same.
fn in_json(text: &[u8]) -> Option<Vec<u8>> {
    let quoted = serde_json::to_string(str::from_utf8(text).ok()?).ok()?;
    let inside = quoted.get(1..quoted.len().checked_sub(1)?)?;
    (inside.as_bytes() != text).then(|| inside.as_bytes().to_vec())
}

/// The first place of `needle`. Most bytes are not its first one, and comparing starts only there.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let last = haystack.len().checked_sub(needle.len())?;
    let mut from = 0;
    while let Some(at) = haystack.get(from..=last)?.iter().position(|byte| byte == first) {
        let start = from + at;
        if haystack[start + 1..].starts_with(rest) {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redacted(secrets: &[&str], pieces: &[&str]) -> String {
        let mut redactor = Redactor::new(secrets.iter().map(|secret| secret.as_bytes().to_vec()));
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| redactor.push(piece.as_bytes())).collect();
        out.extend(redactor.end());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn masks_secrets_even_across_pieces() {
        assert_eq!(redacted(&["sk-12345678"], &["key=sk-12", "345678!"]), "key=***********!");
        assert_eq!(redacted(&["sk-12345678"], &["sk-1234567"]), "sk-1234567");
        assert_eq!(redacted(&["aaaaaaaa"], &["aaaaaaaaaaaaaaaaaa"]), "****************aa");
        assert_eq!(redacted(&["short"], &["short"]), "short");
        assert_eq!(
            redacted(&["two\nlines\"x"], &[r#"{"a":"two\nlines\"x"}"#, "\ntwo\nlines\"x"]),
            "{\"a\":\"*************\"}\n***********"
        );
        assert_eq!(redacted(&[], &["a", "b"]), "ab");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ab]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..6)) {
            let secret = "abbababb";
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let shown = redacted(&[secret], &pieces);
            prop_assert_eq!(shown.len(), text.len());
            prop_assert!(!shown.contains(secret));
            prop_assert_eq!(shown, redacted(&[secret], &[&text]));
        }
    }
}
