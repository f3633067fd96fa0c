use std::time::Duration;

use clap::Args;
use fleet_api::verbs::run_recording::Request;
use fleet_engine::terminal::{ReplayOptions, replay};

use super::Context;
use crate::Done;

/// Play what an agent's terminal showed
///
/// Works while the agent runs and afterwards, for every run of a task. Space pauses, `q` leaves. The recording is an asciicast; other players can
/// play it, too.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 108)]
pub(crate) struct Replay {
    #[command(flatten)]
    request: Request,
    /// Play this many times as fast
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    speed: f64,
    /// Shorten pauses to this many seconds; 0 plays them as they were
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    idle: f64,
    /// Print the path of the recording
    #[arg(long)]
    path: bool,
}

const EXAMPLES: &str = "Examples:
  fleet replay login-fix
  fleet replay login-fix --attempt 1
  fleet replay login-fix --speed 4 --idle 0.5
  asciinema play \"$(fleet replay login-fix --path)\"";

impl Replay {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let found = context.call(self.request).await?;
        if self.path || context.output.is_json() {
            return context.output.show(&found, || found.path.display().to_string());
        }
        let max_idle = (self.idle > 0.0).then(|| Duration::from_secs_f64(self.idle));
        replay(&found.path, ReplayOptions { speed: self.speed, max_idle }).await.map(drop)
    }
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.01..=1_000.0).contains(&factor) { Ok(factor) } else { Err("between 0.01 and 1000".to_owned()) }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=86_400.0).contains(&seconds) { Ok(seconds) } else { Err("between 0 and 86400".to_owned()) }
}
