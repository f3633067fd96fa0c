//! `fleet agents decode`

use std::path::PathBuf;

use clap::Args;
use fleet_api::Moment;
use fleet_api::verbs::agents_decode::Request;
use fleet_core::time::Millis;
use serde_json::Value;

use super::super::Context;
use super::super::text_input::read_lossy;
use crate::Done;
use crate::output::print_json;

/// Decode a recorded stream of an agent, as a run would: events, usage, session, outcome
///
/// The answer is JSON, always. What a run of yours printed is in `fleet logs ID --raw`. Use it to report a stream that
/// is not understood, or to check a new version of an agent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 40)]
pub(crate) struct Decode {
    /// The agent whose stream it is
    name: String,
    /// What it wrote to standard output (`-` is standard input)
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// What it wrote to standard error
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// The exit status with which it ended
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    exit_code: i32,
    /// The model it used
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

const EXAMPLES: &str = "Examples:
  fleet logs login-fix --raw | fleet agents decode claude | jq .outcome
  fleet agents decode gemini out.jsonl --stderr err.txt --exit-code 173";

impl Decode {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let err = self.stderr.as_deref().map(read_lossy).transpose()?.unwrap_or_default();
        let out = read_lossy(&self.file)?;
        let Self { name: agent, model, exit_code, .. } = self;
        let answer = context.call(Request { agent, model, exit_code, out, err }).await?;
        let mut shown = serde_json::json!(answer);
        show_moment(&mut shown["outcome"]);
        for event in shown["events"].as_array_mut().into_iter().flatten() {
            show_moment(event);
        }
        print_json(&shown)
    }
}

/// A moment travels as a number, and is shown as a time.
fn show_moment(value: &mut Value) {
    if let Some(at) = value["until"].as_i64() {
        value["until"] = serde_json::json!({ "at": Moment(Millis(at)) });
    }
}
