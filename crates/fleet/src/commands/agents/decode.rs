//! `fleet agents decode`

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_api::Moment;
use fleet_api::verbs::agents_decode::Request;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::time::Millis;
use serde_json::Value;

use super::super::Context;
use crate::Done;
use crate::output::print_json;

/// Decode a recorded stream of an agent, as a run would: events, usage, session, outcome
///
/// The answer is JSON, always. What a run of yours printed is in `fleet logs ID --raw`. Use it when you report that a
/// stream is not understood, or to see whether a new version of an agent still fits.
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
    /// The model that it was told to use
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

const EXAMPLES: &str = "Examples:
  fleet logs login-fix --raw | fleet agents decode claude | jq .outcome
  fleet agents decode gemini out.jsonl --stderr err.txt --exit-code 173";

impl Decode {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let err = self.stderr.as_deref().map(|path| text(&mut open(path)?)).transpose()?.unwrap_or_default();
        let out = if self.file == Path::new("-") {
            text(&mut std::io::stdin().lock())?
        } else {
            text(&mut open(&self.file)?)?
        };
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

/// Recordings of runs are smaller.
const LONGEST: u64 = 256 * 1024 * 1024;

fn text(from: &mut dyn Read) -> Outcome<String> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Problem::new(Code::Io, format!("the recording cannot be read: {error}")))?;
    if bytes.len() as u64 > LONGEST {
        let problem = Problem::new(Code::InvalidValue, "the recording is larger than 256 MiB");
        return Err(problem.hint("`head -c 256M` cuts it"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn open(path: &Path) -> Outcome<File> {
    File::open(path)
        .map_err(|error| Problem::new(Code::Io, format!("cannot read {}: {error}", path.display())))
}
