//! Values that may hold a password.
//!
//! Owns how such a value is shown: everything but the password. Must never give the whole value to anything that
//! prints, logs or serialises; callers that need it use [`Secret::revealed`].

use std::fmt;

use serde::{Serialize, Serializer};

const MASK: &str = "***";

/// A text whose passwords are hidden wherever it is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    part: HiddenPart,
}

/// What of a text is hidden.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HiddenPart {
    /// The passwords of an address.
    Passwords,
    /// Everything, its length included.
    Whole,
}

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), part: HiddenPart::Passwords }
    }

    /// Wraps a text of which nothing is ever shown.
    pub fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), part: HiddenPart::Whole }
    }

    /// The whole text, passwords included.
    pub fn revealed(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            HiddenPart::Passwords => f.write_str(&redact(&self.text)),
            HiddenPart::Whole => f.write_str(MASK),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The address without its passwords.
///
/// Passwords that should have been percent-encoded and were not still have to disappear, so this hides more
/// rather than less: everything up to the last `@` counts as credentials.
pub(super) fn redact(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let query = rest.find('?').unwrap_or(rest.len());
    let mut shown = format!("{scheme}://");
    // A password with a `?` in it, or a query with an `@`: it is unknown where the secret ends.
    if rest[query..].contains('@') {
        return shown + MASK;
    }
    let end = rest[..query].rfind('@').unwrap_or(0);
    match rest[..end].split_once(':') {
        Some((user, _)) => shown.extend([user, ":", MASK, &rest[end..]]),
        None => shown.push_str(rest),
    }
    hide_parameters(&shown)
}

fn hide_parameters(address: &str) -> String {
    let mut shown = String::with_capacity(address.len());
    for piece in address.split_inclusive(['?', '&']) {
        match piece.split_once('=') {
            Some((name, value)) if is_sensitive(name) => {
                let separator = if value.ends_with('&') { "&" } else { "" };
                shown.extend([name, "=", MASK, separator]);
            }
            _ => shown.push_str(piece),
        }
    }
    shown
}

/// A percent sign may hide any name.
fn is_sensitive(parameter: &str) -> bool {
    let lower = parameter.to_ascii_lowercase();
    ["pass", "secret", "token", "%"].iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_and_the_rest_stays() {
        for (address, shown) in [
            ("sqlite", "sqlite"),
            ("sqlite:/tmp/a:b@c", "sqlite:/tmp/a:b@c"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://user@host:5432/db", "postgres://user@host:5432/db"),
            ("postgres://user:pw@host/db", "postgres://user:***@host/db"),
            ("postgres://user:@host/db", "postgres://user:***@host/db"),
            ("postgres://:pw@host", "postgres://:***@host"),
            ("postgresql://user:p:w@host:1,b:2/db?a=b", "postgresql://user:***@host:1,b:2/db?a=b"),
            ("postgres://host/db?password=pw", "postgres://host/db?password=***"),
            ("postgres://h/db?a=1&PassWord=pw&b=2", "postgres://h/db?a=1&PassWord=***&b=2"),
            ("postgres://h/db?sslpassword=pw&b=2", "postgres://h/db?sslpassword=***&b=2"),
            ("postgres://h/db?pass%77ord=pw", "postgres://h/db?pass%77ord=***"),
            ("postgres://u:pw@h/db?password=pw", "postgres://u:***@h/db?password=***"),
        ] {
            assert_eq!(Secret::new(address).to_string(), shown);
        }
    }

    #[test]
    fn of_a_whole_secret_nothing_is_shown() {
        for text in ["", "hunter2", "https://host/hunter2"] {
            let secret = Secret::whole(text);
            assert_eq!((secret.to_string().as_str(), secret.revealed()), (MASK, text));
            assert_eq!(
                format!("{secret:?} {}", serde_json::to_string(&secret).unwrap()),
                r#"Secret(***) "***""#
            );
        }
    }

    #[test]
    fn a_password_that_should_have_been_encoded_is_hidden_too() {
        for address in [
            "postgres://user:hun/ter2@host/db",
            "postgres://user:hun@ter2@host/db",
            "postgres://user:hun?ter2@host/db",
            "postgres://user:hun#ter2@host/db",
            "postgres://user:hun&ter2@host/db",
            "postgres://host/db?password=hun=ter2",
            "postgres://host/db?password=hunter2&user=a@b",
            "postgres://host:1/db?user=a@b&password=hunter2",
        ] {
            let secret = Secret::new(address);
            let shown = format!("{secret} {secret:?} {}", serde_json::to_string(&secret).unwrap());
            assert!(!shown.contains("hun") && !shown.contains("ter2"), "{shown}");
            assert_eq!(secret.revealed(), address);
        }
    }
}
