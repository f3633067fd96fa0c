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
        (number, _) => format!("{runners}, {} stopped{}", count(number, "agent"), fate(stopped)),
    }
}

/// What becomes of the tasks of stopped agents: nobody may be there to attach to a new terminal.
fn fate(stopped: &Answer) -> String {
    match (stopped.released.saturating_sub(stopped.interactive), stopped.interactive) {
        (_, 0) => " and back in the queue".to_owned(),
        (0, _) => "; `fleet resume` continues interactive tasks".to_owned(),
        (queued, _) => format!(": {queued} back in the queue; `fleet resume` continues interactive tasks"),
    }
}
