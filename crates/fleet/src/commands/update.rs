use clap::Args;
use fleet_api::verbs::update::{Answer, Request};
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{arrows, dim, strong};

/// Update codefleet, in the way it was installed
///
/// Looks up the newest release at the address in `update.url`, and runs what this installation needs: cargo, npm, brew,
/// pip, pipx or uv; for others it says what to do. This is the only command that looks for releases: no other asks the
/// network for them. Running agents are not disturbed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 395)]
pub(crate) struct Update {
    /// Only say what is newer
    #[arg(long)]
    check: bool,
    /// Install the newest release also if it is not newer
    #[arg(long, conflicts_with = "check")]
    force: bool,
}

const EXAMPLES: &str = "Examples:
  fleet update --check
  fleet update
  fleet update -c update.url=https://api.github.com/repos/OWNER/NAME/releases/latest";

impl Update {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = context.call(Request::default()).await?;
        let installs = !self.check && (answer.is_newer || self.force) && !answer.command.is_empty();
        context.output.show(&answer, || said(&answer, self.check))?;
        if installs {
            fleet_engine::run_installer(&answer.command)?;
            context.output.note(&dim("`fleet restart` lets a runner in the background use the new version"));
        }
        Ok(())
    }
}

fn said(answer: &Answer, check: bool) -> String {
    let current = format!(
        "codefleet {} {}",
        strong(&answer.current),
        dim(&format!("({})", answer.installed_by.name()))
    );
    let Some(latest) = &answer.latest else {
        let mut next = vec!["`fleet config set update.url URL` says where releases are listed".to_owned()];
        next.extend(answer.advice.clone());
        return format!("{current}: no address of releases is set\n{}", arrows(&next));
    };
    let latest = strong(&escaped(latest));
    if !answer.is_newer {
        return format!("{current}: no release is newer; the newest is {latest}");
    }
    let mut next = answer.advice.clone();
    if !answer.command.is_empty() {
        let line = answer.command.join(" ");
        next.push(if check { format!("`fleet update` runs `{line}`") } else { format!("running `{line}`") });
    }
    format!("{current}: {latest} is newer\n{}", arrows(&next))
}
