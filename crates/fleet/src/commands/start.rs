use fleet_api::verbs::runner_start::Answer;
use fleet_core::time::Millis;

use crate::output::{count, strong};

command! {
    /// Start the runner in the background
    ///
    /// Commands that queue work start it by themselves; `autostart = false` in the configuration stops that.
    #[command(display_order = 200)]
    Start(runner_start) shows render
}

fn render(answer: &Answer, _: Millis) -> String {
    let runner = &answer.runner;
    let what = if answer.started { "is up" } else { "was up already" };
    let slots = count(runner.slots as usize, "slot");
    format!(
        "runner {} {what} with {slots}; `fleet status` shows it, `fleet stop` ends it",
        strong(&runner.name)
    )
}
