//! `fleet note`

use clap::Args;
use fleet_core::run::RunReport;
use fleet_engine::verbs::report;

use super::Context;
use crate::Done;

/// For agents: keep something worth knowing about this run
#[derive(Debug, Args)]
pub(crate) struct Note {
    /// What is worth knowing
    text: String,
}

impl Note {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let said = report::run(&context.engine, RunReport::Note(self.text)).await?;
        context.output.show(&said, || format!("run {}: noted", said.run))
    }
}
