use clap::Args;
use fleet_core::run::RunReport;

use super::Context;
use super::note::report;
use crate::Done;

/// For agents: report progress
#[derive(Debug, Args)]
#[command(display_order = 410)]
pub(crate) struct Progress {
    /// Current activity
    text: String,
    /// Percent done
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,
}

impl Progress {
    pub(crate) async fn run(self, context: &Context) -> Done {
        report(context, RunReport::Progress { text: self.text, percent: self.percent }).await
    }
}
