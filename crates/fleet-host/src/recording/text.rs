//! Text from bytes that come in pieces.

/// Turns pieces of output into text. A character that is cut off waits for its rest, and what is not text becomes U+FFFD.
#[derive(Debug, Default)]
pub(super) struct TextDecoder {
    /// The beginning of a character: at most three bytes.
    begun: Vec<u8>,
}

impl TextDecoder {
    pub(super) fn push(&mut self, bytes: &[u8], text: &mut String) {
        let joined;
        let mut rest = if self.begun.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.begun), bytes.to_vec()].concat();
            &joined
        };
        while let Err(error) = str::from_utf8(rest) {
            let (valid, other) = rest.split_at(error.valid_up_to());
            text.push_str(str::from_utf8(valid).unwrap_or_default());
            let Some(length) = error.error_len() else {
                self.begun = other.to_vec();
                return;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = &other[length..];
        }
        text.push_str(str::from_utf8(rest).unwrap_or_default());
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, text: &mut String) {
        if !std::mem::take(&mut self.begun).is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
