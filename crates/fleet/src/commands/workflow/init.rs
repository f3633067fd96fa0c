//! `fleet workflow init`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fleet_core::text::escaped;
use fleet_engine::verbs::workflow_init::{self, Existing, Request};
use fleet_engine::workflow_file::{Format, SHIPPED};

use super::super::Context;
use crate::Done;
use crate::output::{Column, dim, strong, table};

/// Write a workflow to begin with: one of those that come with codefleet
///
/// It goes to `.fleet/workflows` of the repository, where all commands find it by its name, and is yours to change.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Init {
    /// Which one [default: write-review-refine]
    name: Option<String>,
    /// Write it to this file instead
    path: Option<PathBuf>,
    /// List them, write nothing
    #[arg(long, conflicts_with_all = ["name", "path", "force", "format"])]
    list: bool,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// How it is written [default: what the path says, or toml]; only TOML has the comments
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

/// A format as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    Toml,
    Yaml,
    Json,
}

const EXAMPLES: &str = "Examples:
  fleet workflow init --list
  fleet workflow init bug-hunt
  fleet workflow init compete-judge race.yaml";

impl Init {
    pub(crate) fn run(self, context: &Context) -> Done {
        if self.list {
            return list(context);
        }
        let format = self.format.map(|format| match format {
            FormatName::Toml => Format::Toml,
            FormatName::Yaml => Format::Yaml,
            FormatName::Json => Format::Json,
        });
        let existing = if self.force { Existing::Replace } else { Existing::Keep };
        let request = Request { name: self.name, path: self.path, format, existing };
        let written = workflow_init::run(&context.engine, &request)?;
        context
            .output
            .show(&written, || format!("wrote {}", strong(&escaped(&context.near(&written.path)))))?;
        let named = escaped(&written.named);
        context.output.note(&dim(&format!(
            "change it as you like, then: fleet workflow check {named}\nto run it: fleet workflow run {named} --task \"…\""
        )));
        Ok(())
    }
}

fn list(context: &Context) -> Done {
    let all: Vec<_> =
        SHIPPED.iter().map(|one| serde_json::json!({ "name": one.name, "about": one.about })).collect();
    context.output.show(&serde_json::json!({ "workflows": all }), || {
        let column = |header, cell: fn(usize) -> String| Column::new(header, (0..SHIPPED.len()).map(cell));
        table(vec![
            column("WORKFLOW", |at| SHIPPED[at].name.to_owned()),
            column("WHAT IT DOES", |at| SHIPPED[at].about.to_owned()).giving_way(),
        ])
    })?;
    context.output.note(&dim("`fleet workflow init NAME` writes one into this repository"));
    Ok(())
}
