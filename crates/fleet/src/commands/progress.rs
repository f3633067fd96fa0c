use clap::Args;
use fleet_api::verbs::report::Request;
use fleet_core::run::RunReport;

use super::Context;
use crate::Done;

/// For agents: tell how far this run is
#[derive(Debug, Args)]
#[command(display_order = 410)]
pub(crate) struct Progress {
    /// What is being done, in a few words
    text: String,
    /// How much of it is done, of a hundred
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,
}

impl Progress {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let report = RunReport::Progress { text: self.text, percent: self.percent };
        let said = context.call(Request { report }).await?;
        context.output.show(&said, || format!("run {}: noted", said.run))
    }
}
