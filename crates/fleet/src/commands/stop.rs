use fleet_api::verbs::runner_stop::Answer;
use fleet_core::time::Millis;

use crate::output::count;

command! {
    /// Stop the runner; agents keep running
    #[command(display_order = 210)]
    Stop(runner_stop) shows render
}

fn render(stopped: &Answer, _: Millis) -> String {
    let runners = match stopped.runners.len() {
        0 => "no runner was up".to_owned(),
        number => format!("{} stopped", count(number, "runner")),
    };
    match (stopped.released, stopped.going_on) {
        (0, 0) => runners,
        (0, 1) => format!("{runners}; 1 agent keeps running (`fleet stop --agents` stops it)"),
        (0, number) => format!("{runners}; {number} agents keep running (`fleet stop --agents` stops them)"),
        (number, _) => format!("{runners}, {} stopped and back in the queue", count(number, "agent")),
    }
}
