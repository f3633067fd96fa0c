//! `fleet task export`

use clap::Args;
use fleet_core::problem::{Code, Problem};
use fleet_engine::verbs::task_export;

use super::super::Context;
use crate::Done;
use crate::output::print;

/// Write all tasks of this repository as JSON lines that `fleet task import` reads
#[derive(Debug, Args)]
pub(crate) struct Export {}

impl Export {
    pub(crate) async fn run(context: &Context) -> Done {
        let mut export = task_export::Export::start(&context.engine).await?;
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
