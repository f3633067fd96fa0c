use clap::Args;
use fleet_core::run::RunReport;

use super::Context;
use super::note::report;
use crate::Done;

/// For agents: report that the task cannot be done, and why
#[derive(Debug, Args)]
#[command(display_order = 390)]
pub(crate) struct Fail {
    /// Why, and what would be needed
    text: String,
}

impl Fail {
    pub(crate) async fn run(self, context: &Context) -> Done {
        report(context, RunReport::Fail(self.text)).await
    }
}
