use fleet_api::verbs::agents_unfreeze::Answer;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use crate::output::count;

command! {
    /// Let frozen agents continue
    ///
    /// Undoes `fleet stop --all-agents`: every agent of this home continues where it was, and the queue is no longer
    /// paused, unless somebody paused it before. The time that an agent was frozen does not count for its limits.
    #[command(display_order = 215)]
    Unfreeze(agents_unfreeze) shows render
}

fn render(answer: &Answer, _: Millis) -> String {
    let mut lines = vec![match (answer.changed, answer.continued) {
        (false, 0) => "no agent was frozen".to_owned(),
        (_, 1) => "1 agent continues".to_owned(),
        (_, number) => format!("{} continue", count(number, "agent")),
    }];
    lines.extend(answer.paused.iter().map(|pause| escaped(&pause.sentence()).into_owned()));
    lines.join("\n")
}
