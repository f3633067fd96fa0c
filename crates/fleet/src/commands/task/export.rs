//! `fleet task export`

use clap::Args;
use fleet_core::problem::{Code, Problem};
use fleet_engine::verbs::task_export::{self, Request};

use super::super::Context;
use crate::Done;
use crate::output::print;

/// Write all tasks as JSON lines that `fleet task import` reads
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    all_projects: bool,
}

impl Export {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { all_projects: self.all_projects };
        let mut export = task_export::Export::start(&context.engine, request).await?;
        loop {
            let lines = export.next().await?;
            if lines.is_empty() {
                return Ok(());
            }
            let texts = lines.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
            print(&texts.map_err(|error| Problem::new(Code::Internal, error.to_string()))?.join("\n"))?;
        }
    }
}
