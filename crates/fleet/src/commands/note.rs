use clap::Args;
use fleet_api::verbs::report::Request;
use fleet_core::run::RunReport;

use super::Context;
use crate::Done;

/// For agents: keep something worth knowing about this run
#[derive(Debug, Args)]
#[command(display_order = 400)]
pub(crate) struct Note {
    /// What is worth knowing
    text: String,
}

impl Note {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let said = context.call(Request { report: RunReport::Note(self.text) }).await?;
        context.output.show(&said, || format!("run {}: noted", said.run))
    }
}
