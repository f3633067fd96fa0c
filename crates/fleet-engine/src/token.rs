//! The secret by which programs prove that they may use a server.

use fleet_core::problem::Outcome;
use sha2::{Digest, Sha256};

use crate::clock;

/// A random text that cannot be guessed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn new() -> Outcome<Self> {
        let [a, b, c, d] = [clock::entropy()?, clock::entropy()?, clock::entropy()?, clock::entropy()?];
        Ok(Self(format!("{a:016x}{b:016x}{c:016x}{d:016x}")))
    }

    pub fn given(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether this is the same. Takes as long whatever is given: hashes are compared, and all of them.
    pub fn is(&self, given: &str) -> bool {
        let (mine, theirs) = (Sha256::digest(self.0.as_bytes()), Sha256::digest(given.as_bytes()));
        mine.iter().zip(theirs.iter()).fold(0, |differences, (left, right)| differences | (left ^ right)) == 0
    }

    /// For callers that must present it.
    pub fn revealed(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}
