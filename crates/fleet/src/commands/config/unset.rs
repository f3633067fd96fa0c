//! `fleet config unset`

use fleet_api::verbs::config_unset::Answer;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

command! {
    /// Remove a value from your configuration file
    #[command(display_order = 40)]
    Unset(config_unset) shows render
}

fn render(answer: &Answer, _: Millis) -> String {
    let verb = if answer.removed { "removed from" } else { "was not in" };
    format!("{} {verb} {}", answer.key, escaped(&answer.path))
}
