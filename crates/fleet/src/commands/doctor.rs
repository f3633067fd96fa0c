use clap::Args;
use fleet_api::verbs::doctor::{CheckVerdict, DoctorCheck, Request};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{dim, paint_status, strong};

/// Check the installation and report problems
#[derive(Debug, Args)]
#[command(display_order = 330)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        let found = context.call(Request::default()).await?;
        context.output.show(&found, || found.checks.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        if found.healthy {
            return Ok(());
        }
        let bad = found.checks.iter().filter(|check| check.verdict == CheckVerdict::Bad).count();
        Err(Problem::new(Code::DoctorFoundProblems, format!("{bad} of {} checks failed", found.checks.len())))
    }
}

fn line(check: &DoctorCheck) -> String {
    let mark = mark(check.verdict);
    let hints = check.hints.iter().map(|hint| format!("\n    {} {}", dim("→"), escaped(hint)));
    format!(
        "{mark} {}  {}{}",
        strong(&format!("{:<12}", check.name)),
        escaped(&check.detail),
        hints.collect::<String>()
    )
}

pub(super) fn mark(verdict: CheckVerdict) -> String {
    match verdict {
        CheckVerdict::Good => paint_status("done").replace("done", "✓"),
        CheckVerdict::Warning => paint_status("held").replace("held", "!"),
        CheckVerdict::Bad => paint_status("failed").replace("failed", "✗"),
    }
}
