//! Long texts: given on the command line, in a file, or on standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_core::problem::{Code, Outcome, Problem};

/// A description in one of three ways.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TextInput {
    /// The description
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
const MOST_MIB: u64 = 256;

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

/// The same, with replacement characters for what is not text.
pub(crate) fn read_lossy(path: &Path) -> Outcome<String> {
    let bytes = if path == Path::new("-") { stdin_bytes() } else { file_bytes(path) };
    Ok(String::from_utf8_lossy(&bytes?).into_owned())
}

/// All of standard input as text.
pub(crate) fn read_stdin() -> Outcome<String> {
    text(stdin_bytes()?, "standard input")
}

pub(crate) fn read_file(path: &Path) -> Outcome<String> {
    text(file_bytes(path)?, &path.display().to_string())
}

fn stdin_bytes() -> Outcome<Vec<u8>> {
    read_all(std::io::stdin().lock(), "standard input")
}

fn file_bytes(path: &Path) -> Outcome<Vec<u8>> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|error| {
        Problem::new(Code::Io, format!("cannot read {name}: {error}"))
            .hint("check the path, counted from the current directory; `-` reads standard input")
    })?;
    read_all(file, &name)
}

fn text(bytes: Vec<u8>, name: &str) -> Outcome<String> {
    String::from_utf8(bytes)
        .map_err(|_| Problem::new(Code::InvalidValue, format!("{name} is not UTF-8 text")))
}

fn read_all(stream: impl Read, name: &str) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stream.take((MOST_MIB << 20) + 1).read_to_end(&mut bytes);
    read.map_err(|error| Problem::new(Code::Io, format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > MOST_MIB << 20 {
        return Err(Problem::new(Code::InvalidValue, format!("{name} is larger than {MOST_MIB} MiB")));
    }
    Ok(bytes)
}
