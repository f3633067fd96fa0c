//! Values of settings, as people read them.

use fleet_api::views::SettingValue;

/// Lists as they are in a file, so that their items can be told apart; nothing for what is unset.
pub(crate) fn value(value: &SettingValue) -> String {
    match value {
        SettingValue::Unset => String::new(),
        SettingValue::Boolean(truth) => truth.to_string(),
        SettingValue::Integer(number) => number.to_string(),
        SettingValue::Text(text) => text.clone(),
        SettingValue::List(items) => items.iter().collect::<toml_edit::Array>().to_string(),
    }
}
