use clap::Args;
use fleet_api::verbs::agents_test::{Answer, Request, TestStep};
use fleet_api::verbs::doctor::CheckVerdict;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use tokio::signal::unix::{SignalKind, signal};

use super::super::Context;
use super::super::doctor::mark;
use crate::Done;
use crate::exit::interrupted;
use crate::output::{dim, strong};

/// Run a tiny real task with an agent, and report what works
///
/// Makes a scratch repository in a temporary folder, asks the agent to write one file and commit it, and runs that
/// through its own queue with your agent settings. It uses your account, and a few thousand tokens. Everything is
/// removed afterwards. The exit status is 8 if the agent failed.
#[derive(Debug, Args)]
#[command(display_order = 30)]
pub(crate) struct Test {
    #[command(flatten)]
    request: Request,
}

impl Test {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = self.request;
        context.output.note(&dim(&format!("{} gets a small task; this takes a moment …", request.agent)));
        // Whenever somebody leaves, nothing stays behind: the verb sees to that.
        let ran = tokio::select! {
            ran = context.call(request) => ran.map(Some),
            left = leaving() => left.map(|()| None),
        };
        let Some(response) = ran? else {
            context.output.note("left; everything of the test is removed");
            interrupted();
        };
        context.output.show(&response, || render(&response))?;
        if let Some(dir) = &response.kept {
            context
                .output
                .note(&format!("kept: export FLEET_HOME={dir}/home; fleet list --all -A; rm -r {dir}"));
        }
        verdict(&response)
    }
}

/// Until somebody wants this process to end.
async fn leaving() -> Outcome<()> {
    let on = |kind| signal(kind).map_err(|error| Problem::new(Code::Internal, format!("signals: {error}")));
    let (mut first, mut second, mut third) =
        (on(SignalKind::interrupt())?, on(SignalKind::terminate())?, on(SignalKind::hangup())?);
    tokio::select! {
        _ = first.recv() => Ok(()),
        _ = second.recv() => Ok(()),
        _ = third.recv() => Ok(()),
    }
}

fn render(response: &Answer) -> String {
    let steps: Vec<String> = response.steps.iter().map(line).collect();
    steps.join("\n")
}

fn line(step: &TestStep) -> String {
    let mark = mark(step.verdict);
    format!("{mark} {}  {}", strong(&format!("{:<10}", step.name)), escaped(&step.detail))
}

fn verdict(response: &Answer) -> Done {
    if response.ok {
        return Ok(());
    }
    let bad: Vec<&str> = response
        .steps
        .iter()
        .filter(|step| step.verdict == CheckVerdict::Bad)
        .map(|step| step.name.as_str())
        .collect();
    let reason = response.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let message = match bad.as_slice() {
        ["installed"] => format!("{} is not installed", response.agent),
        bad => format!("{} does not work here: {}{reason}", response.agent, bad.join(", ")),
    };
    Err(Problem::new(Code::RunFailed, message).hints(&response.next))
}
