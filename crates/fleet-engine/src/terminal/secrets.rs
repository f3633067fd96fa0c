//! What must reach neither a log nor the store, nor anyone who reads a terminal as text.

use std::sync::Arc;

use fleet_core::redact::Redactor;

#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<[Vec<u8>]>);

impl Secrets {
    pub(crate) fn new(secrets: Vec<Vec<u8>>) -> Self {
        Self(secrets.into())
    }

    /// Masks them in a stream.
    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.0.iter().cloned())
    }

    pub(crate) fn clean(&self, text: &[u8]) -> Vec<u8> {
        let mut redactor = self.redactor();
        let mut clean = redactor.push(text);
        clean.extend(redactor.end());
        clean
    }

    /// The lines of a terminal: a secret may begin at the end of one and go on in the next.
    pub(crate) fn clean_lines(&self, lines: Vec<String>) -> Vec<String> {
        if self.0.is_empty() {
            return lines;
        }
        // A mask is as long as what it hides.
        let clean = self.clean(lines.concat().as_bytes());
        let mut rest = clean.as_slice();
        let cut = |line: String| {
            let (one, others) = rest.split_at_checked(line.len()).unwrap_or((rest, &[]));
            rest = others;
            String::from_utf8_lossy(one).into_owned()
        };
        lines.into_iter().map(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_within_a_line_and_across_lines() {
        let secrets = Secrets::new(vec![b"sk-12345678".to_vec(), "geh\u{e4}im-wort".as_bytes().to_vec()]);
        let lines = ["key sk-123", "45678 end", "", "\u{fc} geh\u{e4}im-wort \u{fc}", "sk-1234567"];
        let clean = secrets.clean_lines(lines.map(ToOwned::to_owned).to_vec());
        assert_eq!(clean, ["key ******", "***** end", "", "\u{fc} ************ \u{fc}", "sk-1234567"]);
        let none = Secrets::default();
        assert_eq!(none.clean_lines(vec!["as it is".to_owned()]), ["as it is"]);
    }
}
