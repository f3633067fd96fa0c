//! `fleet doctor`

use clap::Args;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_engine::verbs::doctor::{self, Check, Verdict};

use super::Context;
use crate::Done;
use crate::output::{dim, paint_status, strong};

/// Look at everything that codefleet needs, and say what is wrong
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) async fn run(context: &Context) -> Done {
        let found = doctor::run(&context.engine).await?;
        context.output.show(&found, || found.checks.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        if found.healthy {
            return Ok(());
        }
        let bad = found.checks.iter().filter(|check| check.verdict == Verdict::Bad).count();
        Err(Problem::new(Code::DoctorFoundProblems, format!("{bad} of {} checks failed", found.checks.len())))
    }
}

fn line(check: &Check) -> String {
    let mark = match check.verdict {
        Verdict::Good => paint_status("done").replace("done", "✓"),
        Verdict::Warning => paint_status("held").replace("held", "!"),
        Verdict::Bad => paint_status("failed").replace("failed", "✗"),
    };
    let hints = check.hints.iter().map(|hint| format!("\n    {} {}", dim("→"), escaped(hint)));
    format!(
        "{mark} {}  {}{}",
        strong(&format!("{:<12}", check.name)),
        escaped(&check.detail),
        hints.collect::<String>()
    )
}
