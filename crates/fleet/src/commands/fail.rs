//! `fleet fail`

use clap::Args;
use fleet_core::run::RunReport;
use fleet_engine::verbs::report;

use super::Context;
use crate::Done;

/// For agents: report that the task of this run cannot be done, and why
#[derive(Debug, Args)]
pub(crate) struct Fail {
    /// Why, and what would be needed
    text: String,
}

impl Fail {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let said = report::run(&context.engine, RunReport::Fail(self.text)).await?;
        context.output.show(&said, || format!("run {}: noted", said.run))
    }
}
