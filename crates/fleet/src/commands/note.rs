use clap::Args;
use fleet_api::verbs::report::Request;
use fleet_core::run::RunReport;

use super::Context;
use crate::Done;

/// For agents: record a note about this run
#[derive(Debug, Args)]
#[command(display_order = 400)]
pub(crate) struct Note {
    /// The note
    text: String,
}

impl Note {
    pub(crate) async fn run(self, context: &Context) -> Done {
        report(context, RunReport::Note(self.text)).await
    }
}

/// Records what the agent of this run says about it.
pub(super) async fn report(context: &Context, report: RunReport) -> Done {
    let said = context.call(Request { report }).await?;
    context.output.show(&said, || format!("run {}: noted", said.run))
}
