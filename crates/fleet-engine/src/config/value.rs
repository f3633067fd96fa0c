//! What a key is set to.
//!
//! Owns reading a value from a text or from a file and checking it against its kind, and showing it. Must never
//! show a secret: that is left to [`Secret`].

use std::fmt;

use fleet_api::views::SettingValue;
use fleet_core::problem::Outcome;

use super::form::TextForm;
use super::key::{Key, KeyKind};
use super::messages::{self, quoted};
use super::secret::Secret;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    Unset,
    String(String),
    /// A string that may hold a password.
    Secret(Secret),
    Integer(i64),
    Boolean(bool),
    List(Vec<String>),
}

#[derive(Debug, thiserror::Error)]
#[error("must be {kind}{}", if got.is_empty() { String::new() } else { format!(", not {got}") })]
pub(super) struct Mismatch {
    pub(super) kind: KeyKind,
    /// Empty if it must not be shown.
    got: String,
}

impl ConfigValue {
    /// The same value, shown with its passwords, for a user who asked for them.
    #[must_use]
    pub fn revealed(&self) -> Self {
        match self {
            Self::Secret(secret) => Self::String(secret.revealed().to_owned()),
            other => other.clone(),
        }
    }

    /// The texts that it is made of: the items of a list, or the one text that it is. None of a secret.
    pub fn texts(&self) -> &[String] {
        match self {
            Self::List(items) => items,
            Self::String(text) => std::slice::from_ref(text),
            Self::Unset | Self::Secret(_) | Self::Integer(_) | Self::Boolean(_) => &[],
        }
    }

    pub(super) fn view(&self) -> SettingValue {
        match self.clone() {
            Self::Unset => SettingValue::Unset,
            Self::String(text) => SettingValue::Text(text),
            Self::Secret(secret) => SettingValue::Text(secret.to_string()),
            Self::Integer(number) => SettingValue::Integer(number),
            Self::Boolean(truth) => SettingValue::Boolean(truth),
            Self::List(items) => SettingValue::List(items),
        }
    }

    /// Reads what a person wrote as the value of a key of this name.
    pub(super) fn of(key: &Key, name: &str, text: &str) -> Outcome<Self> {
        Self::from_text(key.kind, text).map_err(|mismatch| messages::mismatch(name, &mismatch))
    }

    /// Reads what a person wrote in a variable, after a flag, or as an argument.
    pub(super) fn from_text(kind: KeyKind, text: &str) -> Result<Self, Mismatch> {
        match kind {
            KeyKind::Text(_) | KeyKind::OneOf(_) | KeyKind::Quantity { .. } => Self::from_string(kind, text),
            KeyKind::Integer { .. } => {
                let number = text.trim().parse().map_err(|_| Mismatch::new(kind, quoted(text)))?;
                Self::from_integer(kind, number)
            }
            KeyKind::Boolean => match text.trim() {
                "true" => Ok(Self::Boolean(true)),
                "false" => Ok(Self::Boolean(false)),
                other => Err(Mismatch::new(kind, quoted(other))),
            },
            KeyKind::List(_) if text.trim_start().starts_with('[') => {
                let parsed = text.trim().parse::<toml_edit::Value>();
                Self::from_toml(kind, &parsed.map_err(|_| Mismatch::new(kind, quoted(text)))?)
            }
            KeyKind::List(form) => Self::from_items(form, text),
        }
    }

    /// Reads what is in a file.
    pub(super) fn from_toml(kind: KeyKind, value: &toml_edit::Value) -> Result<Self, Mismatch> {
        match (kind, value) {
            (
                KeyKind::Text(_) | KeyKind::OneOf(_) | KeyKind::Quantity { .. },
                toml_edit::Value::String(text),
            ) => Self::from_string(kind, text.value()),
            (KeyKind::Integer { .. }, toml_edit::Value::Integer(number)) => {
                Self::from_integer(kind, *number.value())
            }
            (_, toml_edit::Value::Integer(number)) if kind.takes_numbers() => {
                Self::from_string(kind, &number.value().to_string())
            }
            (_, toml_edit::Value::Float(number)) if kind.takes_numbers() => {
                Self::from_string(kind, &number.value().to_string())
            }
            (KeyKind::Boolean, toml_edit::Value::Boolean(truth)) => Ok(Self::Boolean(*truth.value())),
            (KeyKind::List(form), toml_edit::Value::Array(items)) => {
                let item = |item: &toml_edit::Value| {
                    let text = item.as_str().filter(|text| form.accepts(text)).map(str::to_owned);
                    text.ok_or_else(|| Mismatch::new(kind, format!("a list with {}", described(item))))
                };
                Ok(Self::List(items.iter().map(item).collect::<Result<_, _>>()?))
            }
            (_, other) if is_hidden(kind) => Err(Mismatch::new(kind, type_name(other))),
            (_, other) => Err(Mismatch::new(kind, described(other))),
        }
    }

    /// Items with commas between them. A command may hold a comma, so that a text is one command.
    fn from_items(form: TextForm, text: &str) -> Result<Self, Mismatch> {
        let separator: &[char] = if form.is_without_commas() { &[','] } else { &[] };
        let mut list = Vec::new();
        for item in text.split(separator).map(str::trim).filter(|item| !item.is_empty()) {
            if !form.accepts(item) {
                let got = format!("a list with the string {}", quoted(item));
                return Err(Mismatch::new(KeyKind::List(form), got));
            }
            list.push(item.to_owned());
        }
        // Nothing but separators is a mistake (`$A,$B`, neither set), and an empty list may allow everything.
        if list.is_empty() && !text.is_empty() {
            return Err(Mismatch::new(KeyKind::List(form), quoted(text)));
        }
        Ok(Self::List(list))
    }

    fn from_string(kind: KeyKind, text: &str) -> Result<Self, Mismatch> {
        if kind.accepts(text) {
            return Ok(match kind {
                _ if is_hidden(kind) => Self::Secret(Secret::whole(text)),
                _ if is_address(kind) => Self::Secret(Secret::new(text)),
                _ => Self::String(text.to_owned()),
            });
        }
        Err(Mismatch::new(kind, shown(kind, text)))
    }

    fn from_integer(kind: KeyKind, number: i64) -> Result<Self, Mismatch> {
        match kind {
            KeyKind::Integer { min, max } if (min..=max).contains(&number) => Ok(Self::Integer(number)),
            _ => Err(Mismatch::new(kind, format!("`{number}`"))),
        }
    }

    /// As it is in a file; nothing when there is nothing to write.
    pub(super) fn to_toml(&self) -> Option<toml_edit::Value> {
        match self {
            Self::Unset => None,
            Self::String(text) => Some(text.into()),
            Self::Secret(secret) => Some(secret.revealed().into()),
            Self::Integer(number) => Some((*number).into()),
            Self::Boolean(truth) => Some((*truth).into()),
            Self::List(items) => Some(items.iter().collect::<toml_edit::Array>().into()),
        }
    }
}

/// As a person reads it: lists as they are in a file, so that their items can be told apart; nothing for what is
/// unset.
impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => Ok(()),
            Self::String(text) => f.write_str(text),
            Self::Secret(secret) => write!(f, "{secret}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::List(items) => write!(f, "{}", items.iter().collect::<toml_edit::Array>()),
        }
    }
}

impl Mismatch {
    pub(super) fn new(kind: KeyKind, got: impl Into<String>) -> Self {
        Self { kind, got: got.into() }
    }
}

/// Whether nothing at all may be shown of values of this kind.
fn is_hidden(kind: KeyKind) -> bool {
    kind == KeyKind::Text(TextForm::VariableValue)
}

/// Whether a value may hold a password.
fn is_address(kind: KeyKind) -> bool {
    kind == KeyKind::Text(TextForm::StoreAddress)
}

/// As much of a refused text as may be shown.
fn shown(kind: KeyKind, text: &str) -> String {
    match kind {
        _ if is_hidden(kind) => String::new(),
        _ if is_address(kind) => beginning(text),
        _ => quoted(text),
    }
}

/// As much of a refused address as cannot be a password.
fn beginning(text: &str) -> String {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(text.len());
    match (&text[..end], end < text.len()) {
        ("", _) => String::new(),
        (word, true) if text[end..].starts_with("://") => format!("`{word}://…`"),
        (word, true) => format!("`{word}…`"),
        (word, false) => quoted(word),
    }
}

fn described(value: &toml_edit::Value) -> String {
    match value {
        toml_edit::Value::String(text) => format!("the string {}", quoted(text.value())),
        toml_edit::Value::Integer(number) => format!("the number `{}`", number.value()),
        toml_edit::Value::Float(number) => format!("the number `{}`", number.value()),
        toml_edit::Value::Boolean(truth) => format!("`{}`", truth.value()),
        other => type_name(other).to_owned(),
    }
}

/// Its type, without its value.
fn type_name(value: &toml_edit::Value) -> &'static str {
    match value {
        toml_edit::Value::String(_) => "a string",
        toml_edit::Value::Integer(_) | toml_edit::Value::Float(_) => "a number",
        toml_edit::Value::Boolean(_) => "a truth value",
        toml_edit::Value::Datetime(_) => "a date",
        toml_edit::Value::Array(_) => "a list",
        toml_edit::Value::InlineTable(_) => "a section",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: KeyKind = KeyKind::Integer { min: 1, max: 5 };
    const LIST: KeyKind = KeyKind::List(TextForm::Plain);

    fn text(kind: KeyKind, text: &str) -> Result<ConfigValue, String> {
        ConfigValue::from_text(kind, text).map_err(|mismatch| mismatch.to_string())
    }

    fn toml(kind: KeyKind, text: &str) -> Result<ConfigValue, String> {
        ConfigValue::from_toml(kind, &text.parse().unwrap()).map_err(|mismatch| mismatch.to_string())
    }

    fn list(items: &[&str]) -> ConfigValue {
        ConfigValue::List(items.iter().map(|&item| item.to_owned()).collect())
    }

    #[test]
    fn numbers_are_whole_and_in_range() {
        assert_eq!(text(RANGE, " 4 "), Ok(ConfigValue::Integer(4)));
        assert_eq!(toml(RANGE, "0x5"), Ok(ConfigValue::Integer(5)));
        let wrong = |got: &str| Err(format!("must be a whole number from 1 to 5, not {got}"));
        assert_eq!(text(RANGE, "6"), wrong("`6`"));
        assert_eq!(text(RANGE, ""), wrong("an empty text"));
        assert_eq!(text(RANGE, "99999999999999999999"), wrong("`99999999999999999999`"));
        assert_eq!(toml(RANGE, "0"), wrong("`0`"));
        assert_eq!(toml(RANGE, "3.0"), wrong("the number `3`"));
        assert_eq!(toml(RANGE, "'3'"), wrong("the string `3`"));
        assert_eq!(toml(RANGE, "1979-05-27"), wrong("a date"));
    }

    #[test]
    fn truth_is_true_or_false() {
        assert_eq!(text(KeyKind::Boolean, "true"), Ok(ConfigValue::Boolean(true)));
        assert_eq!(toml(KeyKind::Boolean, "false"), Ok(ConfigValue::Boolean(false)));
        assert_eq!(text(KeyKind::Boolean, "yes"), Err("must be `true` or `false`, not `yes`".to_owned()));
        assert_eq!(
            toml(KeyKind::Boolean, "1"),
            Err("must be `true` or `false`, not the number `1`".to_owned())
        );
    }

    #[test]
    fn lists_come_with_commas_or_as_in_a_file() {
        assert_eq!(text(LIST, "a, b,"), Ok(list(&["a", "b"])));
        assert_eq!(text(LIST, ""), Ok(list(&[])));
        assert_eq!(text(LIST, " ,"), Err("must be a list of strings, not ` ,`".to_owned()));
        assert_eq!(text(LIST, " ['a,b', \"c\"] "), Ok(list(&["a,b", "c"])));
        assert_eq!(toml(LIST, "[]"), Ok(list(&[])));
        assert_eq!(text(LIST, "[a"), Err("must be a list of strings, not `[a`".to_owned()));
        assert_eq!(
            toml(LIST, "['a', 1]"),
            Err("must be a list of strings, not a list with the number `1`".to_owned())
        );
        assert_eq!(list(&["a", "b, c"]).to_string(), r#"["a", "b, c"]"#);
        assert_eq!(text(LIST, &list(&["a", "b, c"]).to_string()), Ok(list(&["a", "b, c"])));
        assert_eq!(list(&["a", "b"]).to_toml().unwrap().to_string(), r#"["a", "b"]"#);
        assert_eq!(serde_json::to_string(&list(&["a"]).view()).unwrap(), r#"["a"]"#);
    }

    #[test]
    fn words_are_from_the_list() {
        let kind = KeyKind::OneOf(&["auto", "never"]);
        assert_eq!(text(kind, "auto"), Ok(ConfigValue::String("auto".to_owned())));
        assert_eq!(text(kind, "Auto"), Err("must be one of `auto`, `never`, not `Auto`".to_owned()));
        assert_eq!(toml(kind, "true"), Err("must be one of `auto`, `never`, not `true`".to_owned()));
    }

    #[test]
    fn text_is_one_visible_line() {
        let kind = KeyKind::Text(TextForm::Plain);
        assert_eq!(text(kind, "gpt 5"), Ok(ConfigValue::String("gpt 5".to_owned())));
        assert_eq!(text(kind, "  "), Err("must be one line of text, not `  `".to_owned()));
        assert_eq!(text(kind, "a\u{1b}[2J"), Err("must be one line of text, not `a\\u{1b}[2J`".to_owned()));
    }

    #[test]
    fn a_key_that_detaches_is_one_that_agents_do_not_need() {
        let kind = KeyKind::Text(TextForm::DetachKey);
        assert_eq!(text(kind, "ctrl-a"), Ok(ConfigValue::String("ctrl-a".to_owned())));
        for wrong in ["ctrl-c", "a", "", "alt-x", "ctrl-m"] {
            let refused = text(kind, wrong).unwrap_err();
            assert!(refused.starts_with("must be `ctrl-` and a letter"), "{refused}");
        }
    }

    #[test]
    fn a_store_is_sqlite_or_postgres() {
        let kind = KeyKind::Text(TextForm::StoreAddress);
        for good in ["sqlite", "sqlite:/a/b.db", "sqlite:~/b.db", "postgres://h/db", "postgresql://u:p@h"] {
            assert_eq!(text(kind, good), Ok(ConfigValue::Secret(Secret::new(good))));
        }
        for (bad, got) in [
            ("sqlite3", ", not `sqlite3`"),
            ("sqlite:", ", not `sqlite…`"),
            ("sqlite://fleet.db", ", not `sqlite://…`"),
            ("postgres://", ", not `postgres://…`"),
            ("mysql://user:hunter2@host", ", not `mysql://…`"),
            ("host=h password=hunter2", ", not `host…`"),
            ("user:hunter2@host", ", not `user…`"),
            ("/var/fleet.db", ""),
            ("", ""),
        ] {
            assert_eq!(
                text(kind, bad),
                Err(format!("must be `sqlite`, `sqlite:PATH` or `postgres://…`{got}"))
            );
        }
    }

    #[test]
    fn a_secret_is_shown_whole_only_when_revealed() {
        let value = text(KeyKind::Text(TextForm::StoreAddress), "postgres://u:hunter2@h/db").unwrap();
        let shown = format!("{value} {value:?} {}", serde_json::to_string(&value.view()).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(value.revealed().to_string(), "postgres://u:hunter2@h/db");
        assert_eq!(value.to_toml().unwrap().to_string(), r#""postgres://u:hunter2@h/db""#);
    }
}
