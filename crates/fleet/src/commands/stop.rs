use clap::Args;
use fleet_api::verbs::agents_stop::{self, StopAgents};
use fleet_api::verbs::runner_stop::{Answer, Request};

use super::Context;
use crate::Done;
use crate::output::count;

/// Stop the runner; agents keep running
///
/// With --all-agents, the runner stays and every agent of this home is stopped at once: an emergency stop. Nothing new is
/// started until `fleet unfreeze`, or after --end until `fleet unpause`.
#[derive(Debug, Args)]
#[command(display_order = 210)]
pub(crate) struct Stop {
    #[command(flatten)]
    request: Request,
    /// Stop every agent now, and pause the queue: freeze them, or end them with --end
    #[arg(long, conflicts_with = "agents")]
    all_agents: bool,
    /// Freeze the agents where they are; `fleet unfreeze` lets them continue [default]
    #[arg(long, requires = "all_agents")]
    freeze: bool,
    /// End the agents: their work is saved, and tasks that are not interactive go back to the queue
    #[arg(long, requires = "all_agents", conflicts_with = "freeze")]
    end: bool,
}

impl Stop {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request, all_agents, end, freeze: _ } = self;
        if all_agents {
            let how = if end { StopAgents::End } else { StopAgents::Freeze };
            let answer = context.call(agents_stop::Request { how }).await?;
            return context.output.show(&answer, || emergency(&answer, how));
        }
        let answer = context.call(request).await?;
        context.output.show(&answer, || render(&answer))
    }
}

fn emergency(answer: &agents_stop::Answer, how: StopAgents) -> String {
    let mut lines = vec![match how {
        StopAgents::Freeze => format!(
            "{} frozen; nothing new is started (`fleet unfreeze` lets them continue)",
            count(answer.frozen, "agent")
        ),
        StopAgents::End => format!(
            "{} ended, work saved; nothing new is started (`fleet unpause` lifts that)",
            count(answer.ended, "agent")
        ),
    }];
    let late = answer.unconfirmed.iter();
    lines.extend(
        late.map(|run| format!("! {run}: its keeper has not confirmed (`fleet kill {run}` ends it)")),
    );
    lines.join("\n")
}

fn render(stopped: &Answer) -> String {
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
