//! Names of git objects.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The full name of an object: 40 or 64 lower-case hexadecimal digits. Holding one proves that it can be handed to git
/// as an argument, and that it always means the same object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the full name of a git object; write its 40 or 64 hexadecimal digits")]
pub struct OidError(String);

impl Oid {
    /// Reads a name. Short ones are refused: what they mean changes as the repository grows.
    pub fn parse(text: &str) -> Result<Self, OidError> {
        let is_full = matches!(text.len(), 40 | 64);
        if is_full && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(OidError(text.chars().take(80).collect()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As many zeros: how git writes "no object", for instance as the value of a ref that must not exist yet.
    pub(super) fn zeros(&self) -> String {
        "0".repeat(self.0.len())
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Oid {
    type Error = OidError;

    fn try_from(text: String) -> Result<Self, OidError> {
        Self::parse(&text)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_are_names() {
        let sha1 = "DA39a3ee5e6b4b0d3255bfef95601890afd80709";
        assert_eq!(Oid::parse(sha1).unwrap().as_str(), sha1.to_lowercase());
        assert!(Oid::parse(&"0".repeat(64)).is_ok());
        for wrong in [
            "",
            "HEAD",
            "da39a3e",
            &"g".repeat(40),
            &"0".repeat(41),
            "-a39a3ee5e6b4b0d3255bfef95601890afd80709",
        ] {
            assert!(Oid::parse(wrong).is_err(), "{wrong}");
        }
    }
}
