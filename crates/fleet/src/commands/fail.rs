use clap::Args;
use fleet_api::verbs::report::Request;
use fleet_core::run::RunReport;

use super::Context;
use crate::Done;

/// For agents: report that the task of this run cannot be done, and why
#[derive(Debug, Args)]
#[command(display_order = 390)]
pub(crate) struct Fail {
    /// Why, and what would be needed
    text: String,
}

impl Fail {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let said = context.call(Request { report: RunReport::Fail(self.text) }).await?;
        context.output.show(&said, || format!("run {}: noted", said.run))
    }
}
