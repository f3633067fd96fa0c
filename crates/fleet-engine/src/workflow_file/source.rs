//! Where workflows are found.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use fleet_api::views::WorkflowSource;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::Project;
use fleet_core::text::escaped;

use super::shipped::SHIPPED;
use super::{Format, Kind};
use crate::Engine;
use crate::config::nearest;
use crate::verbs::lineage;

/// More than any workflow needs.
const LIMIT: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) format: Format,
    /// The file. A shipped one is none on this machine, and has a name only.
    pub(crate) path: PathBuf,
    /// The file, as messages name it.
    pub(crate) label: String,
    pub(crate) kind: Kind,
}

impl Source {
    /// What it is called if it does not say so itself.
    pub(crate) fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) source: &'a WorkflowSource,
    /// Where a relative path starts; the current directory, if left out.
    pub(crate) from: Option<&'a Path>,
}

impl Wanted<'_> {
    pub(crate) fn name(&self) -> &str {
        match self.source {
            WorkflowSource::Named(name) | WorkflowSource::Given { name, .. } => name,
        }
    }

    pub(crate) fn read(&self, engine: &Engine) -> Outcome<Source> {
        match self.source {
            WorkflowSource::Given { name, text, format } => Ok(Source {
                text: text.clone(),
                format: *format,
                path: PathBuf::from(name),
                label: name.clone(),
                kind: Kind::Given,
            }),
            WorkflowSource::Named(named) => find_from(engine, named, self.from),
        }
    }
}

/// The workflow that somebody means: by its name in the repository, at home, or among the shipped ones, in this order; or
/// by the path of its file.
pub(crate) fn find(engine: &Engine, named: &str) -> Outcome<Source> {
    find_from(engine, named, None)
}

fn find_from(engine: &Engine, named: &str, from: Option<&Path>) -> Outcome<Source> {
    if !WorkflowSource::is_name(named) {
        if lineage::own_task(engine)?.is_some() {
            return Err(unread(named));
        }
        let path = from.map_or_else(|| PathBuf::from(named), |from| from.join(named));
        return read(&path, named, Kind::Path);
    }
    let in_repository = match lineage::own_project(engine)? {
        Some(project) => checkout_folder(project),
        None => folder(engine).ok(),
    };
    let folders = [(in_repository, Kind::Repository), (Some(home_folder(engine)), Kind::User)];
    for (folder, kind) in folders {
        if let Some(path) = folder.map(|folder| in_folder(&folder, named)).transpose()?.flatten() {
            return read(&path, &path.display().to_string(), kind);
        }
    }
    if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == named) {
        return Ok(shipped.source());
    }
    Err(unknown(engine, named))
}

/// The folder of the repository's own workflows, which need not exist.
pub(crate) fn folder(engine: &Engine) -> Outcome<PathBuf> {
    let config = engine.project_config()?;
    Ok(config.path().parent().unwrap_or(Path::new(".fleet")).join("workflows"))
}

fn home_folder(engine: &Engine) -> PathBuf {
    engine.home().join("workflows")
}

/// For an agent: the folder in the user's own checkout. What is in its workspace it may have written itself, links to files
/// that it cannot read included.
fn checkout_folder(project: &Project) -> Option<PathBuf> {
    let common_dir = Path::new(&project.common_dir);
    let root = common_dir.parent().filter(|_| common_dir.ends_with(".git"))?.canonicalize().ok()?;
    root.join(".fleet/workflows").canonicalize().ok().filter(|folder| folder.starts_with(&root))
}

/// Codefleet reads no files in the place of an agent: it might be able to read more.
fn unread(named: &str) -> Problem {
    let message = format!("{}: a file of an agent is not read for it", escaped(named));
    Problem::new(Code::NotYours, message).hint("hand over the text of the workflow, or name one by its name")
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

fn read(path: &Path, label: &str, kind: Kind) -> Outcome<Source> {
    let shown = escaped(label).into_owned();
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
    Ok(Source { text, format, path: path.to_owned(), label: label.to_owned(), kind })
}

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
