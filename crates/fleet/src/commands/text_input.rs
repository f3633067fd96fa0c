//! Long texts: given on the command line, in a file, or on standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_core::problem::{Code, Outcome, Problem};

/// A description in one of three ways.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TextInput {
    /// What is to be done, in as many words as needed
    #[arg(short = 'd', long, value_name = "TEXT", conflicts_with_all = ["file", "stdin"], display_order = 0)]
    description: Option<String>,
    /// Read the description from a file (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "stdin", display_order = 0)]
    file: Option<PathBuf>,
    /// Read the description from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
}

/// Beyond this a file is certainly not what was meant; the verb has the exact limit.
const MOST: u64 = 64 << 20;

impl TextInput {
    pub(crate) fn read(self) -> Outcome<Option<String>> {
        match self.file {
            _ if self.stdin.is_some() => read_stdin().map(Some),
            Some(path) => read_path(&path).map(Some),
            None => Ok(self.description),
        }
    }
}

/// The whole of a file as text; `-` is standard input.
pub(crate) fn read_path(path: &Path) -> Outcome<String> {
    if path == Path::new("-") { read_stdin() } else { read_file(path) }
}

/// All of standard input as text.
pub(crate) fn read_stdin() -> Outcome<String> {
    read_all(std::io::stdin().lock(), "standard input")
}

/// The whole of a file as text.
pub(crate) fn read_file(path: &Path) -> Outcome<String> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path)
        .map_err(|error| Problem::new(Code::Io, format!("cannot read {name}: {error}")))?;
    read_all(file, &name)
}

/// All of a stream as text.
fn read_all(stream: impl Read, name: &str) -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = stream.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Problem::new(Code::Io, format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(Problem::new(Code::InvalidValue, format!("{name} is larger than 64 MiB")));
    }
    String::from_utf8(bytes)
        .map_err(|_| Problem::new(Code::InvalidValue, format!("{name} is not UTF-8 text")))
}
