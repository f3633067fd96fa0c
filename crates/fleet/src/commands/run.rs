use clap::Args;
use fleet_core::text::escaped;
use fleet_engine::runner::{self, Request, RunnerNotice};

use super::Context;
use crate::Done;
use crate::output::{Output, count, dim, print_json, strong};

/// Run the queue in the foreground, until Ctrl-C
///
/// Claims tasks that are ready and starts an agent on each, in its own workspace. Agents do not belong to this
/// process: when it ends, however it ends, they keep running, and the next runner takes care of them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 190)]
pub(crate) struct Run {
    /// Maximum concurrent agents [default: `runner.slots`, else one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    slots: Option<u32>,
    /// The agent of tasks that name none [default: `agent`]
    #[arg(long, alias = "coder", value_name = "NAME")]
    agent: Option<String>,
    /// End when nothing runs and nothing is ready
    #[arg(long)]
    until_idle: bool,
    /// The one runner in the background
    #[arg(long, hide = true)]
    background: bool,
}

const EXAMPLES: &str = "Examples:
  fleet run --slots 4
  fleet run --until-idle      # for scripts: do what there is to do, then end
  fleet start                 # the same in the background";

impl Run {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { slots, agent, until_idle, background } = self;
        if background {
            // Away from the terminal that started it: its Ctrl-C and its end are not ours.
            let _ = fleet_engine::detach();
        }
        let engine = context.engine.without_project();
        let engine = agent.map_or(Ok(engine), |agent| context.engine.with_agent(&agent))?;
        let output = context.output;
        let request = Request { slots, background, until_idle };
        runner::run(&engine, request, &mut |notice| tell(output, &notice)).await
    }
}

fn tell(output: Output, notice: &RunnerNotice) {
    if output.is_json() {
        // One line each; nobody left to read them is no reason to stop.
        let _ = print_json(notice);
        return;
    }
    output.note(&match notice {
        RunnerNotice::Up(runner) => {
            format!(
                "runner {} is up with {}; Ctrl-C ends it",
                strong(&runner.name),
                count(runner.slots as usize, "slot")
            )
        }
        RunnerNotice::Started { task, title, run, agent } => {
            format!(
                "{} {}  {} {}",
                strong(&task.to_string()),
                escaped(title),
                agent,
                dim(&format!("run {run}"))
            )
        }
        RunnerNotice::Repaired(run, what) => format!("run {run}: {}", escaped(what)),
        RunnerNotice::Trouble(what) => format!("trouble: {}", escaped(what)),
        RunnerNotice::Leaving(0) => "the runner has ended".to_owned(),
        RunnerNotice::Leaving(busy) => format!(
            "the runner has ended; {} without it (`fleet list` shows them, `fleet stop --agents` stops them)",
            if *busy == 1 {
                "1 agent keeps running".to_owned()
            } else {
                format!("{busy} agents keep running")
            }
        ),
    });
}
