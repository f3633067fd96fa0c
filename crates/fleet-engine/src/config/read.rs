//! Settings as typed values.
//!
//! Must never hold a rule about a value: each was checked before, so a failure here means that a row of
//! [`super::keys`] has a type that does not go with its kind.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_agents::Trust;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Reason;
use fleet_core::task::TaskMode;

use super::form;
use super::key::{KeyKind, NONE};
use super::keys::Color;
use super::secret::Secret;
use super::setting::Setting;
use super::value::ConfigValue;

pub(super) type SettingsByKey = BTreeMap<String, Setting>;

pub(super) fn read<T: FromSetting>(settings: &SettingsByKey, name: &str, kind: KeyKind) -> Outcome<T> {
    T::read(settings, name, kind)
        .ok_or_else(|| Problem::new(Code::Internal, format!("the setting `{name}` is not what its key says")))
}

/// A type of a field of [`super::keys`].
pub(super) trait FromSetting: Sized {
    fn from_value(kind: KeyKind, value: &ConfigValue) -> Option<Self>;

    /// What a key is that is not set and has no default.
    fn unset() -> Option<Self> {
        None
    }

    fn read(settings: &SettingsByKey, name: &str, kind: KeyKind) -> Option<Self> {
        match settings.get(name) {
            Some(setting) => Self::from_value(kind, &setting.value),
            None => Self::unset(),
        }
    }
}

macro_rules! numbers {
    ($($type:ty)+) => {
        $(impl FromSetting for $type {
            fn from_value(kind: KeyKind, value: &ConfigValue) -> Option<Self> {
                kind.number(value)?.try_into().ok()
            }
        })+
    };
}

numbers!(u8 u16 u32 u64 usize);

impl FromSetting for Duration {
    fn from_value(kind: KeyKind, value: &ConfigValue) -> Option<Self> {
        let number = kind.number(value)?;
        Some(if let KeyKind::Integer { .. } = kind {
            Self::from_secs(number)
        } else {
            Self::from_millis(number)
        })
    }
}

impl FromSetting for bool {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        if let ConfigValue::Boolean(truth) = value { Some(*truth) } else { None }
    }
}

impl FromSetting for String {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        if let ConfigValue::String(text) = value { Some(text.clone()) } else { None }
    }
}

impl FromSetting for Secret {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        if let ConfigValue::Secret(secret) = value { Some(secret.clone()) } else { None }
    }
}

impl FromSetting for Color {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        match value.to_string().as_str() {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

impl FromSetting for Trust {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        Self::parse(&value.to_string())
    }
}

impl FromSetting for TaskMode {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        value.to_string().parse().ok()
    }
}

impl<T: FromSetting> FromSetting for Option<T> {
    fn from_value(kind: KeyKind, value: &ConfigValue) -> Option<Self> {
        match (kind, value) {
            (KeyKind::Quantity { .. }, ConfigValue::String(text)) if text == NONE => Some(None),
            _ => T::from_value(kind, value).map(Some),
        }
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// A list, each of whose items is parsed.
fn items<T, C: FromIterator<T>>(value: &ConfigValue, parse: impl Fn(&str) -> Option<T>) -> Option<C> {
    if let ConfigValue::List(items) = value { items.iter().map(|item| parse(item)).collect() } else { None }
}

impl FromSetting for Vec<String> {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        items(value, |item| Some(item.to_owned()))
    }

    fn unset() -> Option<Self> {
        Some(Self::new())
    }
}

impl FromSetting for Vec<(Reason, String)> {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        items(value, |item| form::error_pattern(item).map(|(reason, pattern)| (reason, pattern.to_owned())))
    }

    fn unset() -> Option<Self> {
        Some(Self::new())
    }
}

impl FromSetting for Vec<(String, u64)> {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        items(value, |item| form::context_size(item).map(|(model, tokens)| (model.to_owned(), tokens)))
    }

    fn unset() -> Option<Self> {
        Some(Self::new())
    }
}

impl FromSetting for BTreeMap<String, String> {
    fn from_value(_: KeyKind, value: &ConfigValue) -> Option<Self> {
        items(value, |item| form::alias(item).map(|(short, model)| (short.to_owned(), model.to_owned())))
    }

    fn unset() -> Option<Self> {
        Some(Self::new())
    }
}

/// All keys whose name begins alike, by what comes after it.
impl FromSetting for BTreeMap<String, Secret> {
    fn from_value(_: KeyKind, _: &ConfigValue) -> Option<Self> {
        None
    }

    fn read(settings: &SettingsByKey, name: &str, kind: KeyKind) -> Option<Self> {
        let start = name.strip_suffix('*')?;
        let inside = settings.iter().filter_map(|(key, setting)| Some((key.strip_prefix(start)?, setting)));
        inside
            .map(|(key, setting)| Some((key.to_owned(), Secret::from_value(kind, &setting.value)?)))
            .collect()
    }
}
