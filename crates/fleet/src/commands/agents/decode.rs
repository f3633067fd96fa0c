//! `fleet agents decode`

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::verbs::agents_decode::{self, Request};

use super::super::Context;
use crate::Done;
use crate::output::print_json;

/// Decode a recorded stream of an agent, as a run would: events, usage, session, outcome
///
/// The answer is JSON, always. What a run of yours printed is in `fleet logs ID --raw`. Use it when you report that a
/// stream is not understood, or to see whether a new version of an agent still fits.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
    pub(crate) fn run(self, context: &Context) -> Done {
        let request = Request { agent: self.name, model: self.model, exit_code: self.exit_code };
        let mut err = self.stderr.as_deref().map(open).transpose()?;
        let mut out: Box<dyn Read> = if self.file == Path::new("-") {
            Box::new(std::io::stdin().lock())
        } else {
            Box::new(open(&self.file)?)
        };
        let err = err.as_mut().map(|err| err as &mut dyn Read);
        print_json(&agents_decode::run(&context.engine, &request, &mut out, err)?)
    }
}

fn open(path: &Path) -> Outcome<File> {
    File::open(path)
        .map_err(|error| Problem::new(Code::Io, format!("cannot read {}: {error}", path.display())))
}
