//! Where workflows are found.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use serde::Serialize;

use super::shipped::SHIPPED;
use crate::Engine;
use crate::config::nearest;

/// More than any workflow needs.
const LIMIT: u64 = 1 << 20;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}

impl Format {
    /// The ends of names, in the order in which they are looked for.
    const ENDS: [(&'static str, Self); 4] =
        [("toml", Self::Toml), ("yaml", Self::Yaml), ("yml", Self::Yaml), ("json", Self::Json)];

    /// What the name of a file says.
    pub fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?;
        Self::ENDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(end)).map(|(_, format)| *format)
    }

    /// The usual end of a file's name.
    pub const fn end(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Json => "json",
        }
    }
}

/// Who wrote a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is one of the repository: `.fleet/workflows` in its work tree.
    Repository,
    /// It is one of the user: `workflows` in the home of codefleet.
    User,
    /// It comes with codefleet.
    Shipped,
    /// It was named by its path.
    Path,
    /// It was handed over as a text, by somebody who need not be the user.
    Given,
}

/// The text of a workflow.
#[derive(Debug, Clone)]
pub struct Source {
    /// What stands there.
    pub text: String,
    /// How it is written.
    pub format: Format,
    /// The file. A shipped one is none on this machine, and has a name only.
    pub path: PathBuf,
    /// Who wrote it.
    pub kind: Kind,
}

impl Source {
    /// A workflow that is no file, in JSON. It is called so if it does not say otherwise.
    pub fn given(name: &str, text: String) -> Self {
        Self { text, format: Format::Json, path: PathBuf::from(name), kind: Kind::Given }
    }

    /// What it is called if it does not say so itself.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The file, as messages name it.
    pub fn label(&self) -> String {
        self.path.display().to_string()
    }
}

/// The workflow that somebody means: by its name in the repository, at home, or among the shipped ones, in this order; or
/// by the path of its file.
pub fn find(engine: &Engine, named: &str) -> Outcome<Source> {
    if !is_name(named) {
        return read(Path::new(named), Kind::Path);
    }
    let folders = [(folder(engine).ok(), Kind::Repository), (Some(home_folder(engine)), Kind::User)];
    for (folder, kind) in folders {
        if let Some(path) = folder.map(|folder| in_folder(&folder, named)).transpose()?.flatten() {
            return read(&path, kind);
        }
    }
    if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == named) {
        return Ok(shipped.source());
    }
    Err(unknown(engine, named))
}

/// The folder of the repository's own workflows, which need not exist.
pub fn folder(engine: &Engine) -> Outcome<PathBuf> {
    let config = engine.project_config()?;
    Ok(config.path().parent().unwrap_or(Path::new(".fleet")).join("workflows"))
}

fn home_folder(engine: &Engine) -> PathBuf {
    engine.home().join("workflows")
}

/// A name, and not a path.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.chars().all(fits)
}

/// The file of this name in a folder. Two would be two workflows, of which nobody knows which is meant.
fn in_folder(folder: &Path, name: &str) -> Outcome<Option<PathBuf>> {
    let mut found: Option<PathBuf> = None;
    for (end, _) in Format::ENDS {
        let path = folder.join(format!("{name}.{end}"));
        if path.symlink_metadata().is_err() {
            continue;
        }
        if let Some(other) = &found {
            let message = format!("{name}: both {} and {} are there", other.display(), path.display());
            return Err(Problem::new(Code::WorkflowInvalid, message).hint("name the file that you mean"));
        }
        found = Some(path);
    }
    Ok(found)
}

fn unknown(engine: &Engine, named: &str) -> Problem {
    let problem =
        Problem::new(Code::NothingMatched, format!("there is no workflow called `{}`", escaped(named)));
    let problem = match nearest(named, names(engine).into_iter()) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    };
    problem
        .hint("`fleet workflow init --list` shows those that come with codefleet")
        .hint("a file is named by its path, as in `./NAME.toml`")
}

/// The names that could have been meant.
fn names(engine: &Engine) -> Vec<String> {
    let mut names: Vec<String> = SHIPPED.iter().map(|shipped| shipped.name.to_owned()).collect();
    for folder in [folder(engine).ok(), Some(home_folder(engine))].into_iter().flatten() {
        // Only for advice: a folder that cannot be read has none.
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1_000);
        let files = entries.map(|entry| entry.path()).filter(|path| Format::of(path).is_some());
        names.extend(files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())));
    }
    names
}

fn read(path: &Path, kind: Kind) -> Outcome<Source> {
    let shown = escaped(&path.display().to_string()).into_owned();
    let Some(format) = Format::of(path) else {
        let message = format!("{shown}: its name does not say what it is");
        return Err(Problem::new(Code::WorkflowInvalid, message)
            .hint("a workflow ends in .toml, .yaml, .yml or .json")
            .hint("`fleet workflow init` writes one"));
    };
    let text = text(path, LIMIT).map_err(|why| match why {
        Unusable::Missing => Problem::new(Code::NothingMatched, format!("{shown}: there is no such file"))
            .hint("`fleet workflow init NAME PATH` writes one of those that come with codefleet"),
        Unusable::Unread(error) => Problem::new(Code::Io, format!("{shown}: cannot be read: {error}")),
        Unusable::Wrong(why) => Problem::new(Code::WorkflowInvalid, format!("{shown}: {why}")),
    })?;
    Ok(Source { text, format, path: path.to_owned(), kind })
}

/// Why there is no text.
pub(super) enum Unusable {
    /// There is no file.
    Missing,
    /// It cannot be read.
    Unread(std::io::Error),
    /// It is not the text that it should be.
    Wrong(String),
}

/// The text of a file of at most this size.
pub(super) fn text(path: &Path, limit: u64) -> Result<String, Unusable> {
    // Asked before opening, because opening a named pipe waits for a writer.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(Unusable::Wrong("it is not a file".to_owned())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(Unusable::Missing);
        }
        Err(error) => return Err(Unusable::Unread(error)),
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    read.map_err(Unusable::Unread)?;
    if bytes.len() as u64 > limit {
        return Err(Unusable::Wrong(format!("it is larger than {} KiB", limit / 1024)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|byte| *byte == b'\n').count();
        Unusable::Wrong(format!("it is not UTF-8 text, from line {line} on"))
    })
}
