//! `fleet config validate`

use clap::Args;
use fleet_api::verbs::config_validate::Request;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{count, dim, print, print_json};

/// Check all configuration files and variables, and list everything that is wrong
#[derive(Debug, Args)]
#[command(display_order = 60)]
pub(crate) struct Validate {}

impl Validate {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        let report = context.call(Request::default()).await?;
        for problem in &report.problems {
            context.output.note(&escaped(&problem.to_string()));
            for hint in &problem.hints {
                context.output.note(&format!("  {} {}", dim("→"), escaped(hint)));
            }
        }
        for warning in &report.warnings {
            context.output.note(&format!("warning: {}", escaped(warning)));
        }
        if context.output.is_json() {
            print_json(&report)?;
        }
        match report.problems.len() {
            0 if context.output.is_json() => Ok(()),
            0 => print("configuration OK"),
            found => Err(Problem::new(
                Code::ConfigInvalid,
                format!("the configuration has {}", count(found, "problem")),
            )),
        }
    }
}
