//! `fleet config set`

use fleet_api::verbs::config_set::Answer;
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{dim, value, warn};

command! {
    /// Set a value in your configuration file; comments and layout stay as they are
    #[command(after_help = EXAMPLES)]
    #[command(display_order = 30)]
    Set(config_set) then show
}

const EXAMPLES: &str = "Examples:
  fleet config set tasks.priority 4
  fleet config set agents.codex.model gpt-5 --in-project";

async fn show(context: &Context, Answer { setting, warnings }: Answer) -> Done {
    for warning in &warnings {
        context.output.note(&format!("{} {}", warn("warning:"), escaped(warning)));
    }
    context.output.show(&setting, || {
        let origin = setting.origin.to_string();
        format!("{} = {}  {}", setting.key, value(&setting.value), dim(&escaped(&origin)))
    })
}
