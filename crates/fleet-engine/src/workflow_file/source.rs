//! Where workflows are found.

use std::path::{Path, PathBuf};

use fleet_api::views::WorkflowSource;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::Project;
use fleet_core::text::escaped;

use super::shipped::SHIPPED;
use super::{FileFormat, WorkflowOrigin};
use crate::Engine;
use crate::config::did_you_mean;
use crate::text_file::{self, Unusable};
use crate::verbs::lineage;

/// The largest workflow file, in bytes.
const LIMIT: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    pub(crate) text: String,
    pub(crate) format: FileFormat,
    /// The file. A shipped one is not a file on this machine, and has only a name.
    pub(crate) path: PathBuf,
    /// The file, as messages name it.
    pub(crate) label: String,
    pub(crate) kind: WorkflowOrigin,
}

impl SourceFile {
    /// Its name if the file does not give one.
    pub(crate) fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceQuery<'a> {
    pub(crate) source: &'a WorkflowSource,
    /// Where a relative path starts; the current directory, if left out.
    pub(crate) from: Option<&'a Path>,
}

impl SourceQuery<'_> {
    pub(crate) fn name(&self) -> &str {
        match self.source {
            WorkflowSource::Named(name) | WorkflowSource::Given { name, .. } => name,
        }
    }

    pub(crate) fn read(&self, engine: &Engine) -> Outcome<SourceFile> {
        match self.source {
            WorkflowSource::Given { name, text, format } => Ok(SourceFile {
                text: text.clone(),
                format: *format,
                path: PathBuf::from(name),
                label: name.clone(),
                kind: WorkflowOrigin::Given,
            }),
            WorkflowSource::Named(named) => find_from(engine, named, self.from),
        }
    }
}

/// The workflow that the user means: by its name in the repository, at home, or among the shipped ones, in this order;
/// or by the path of its file.
pub(crate) fn find(engine: &Engine, named: &str) -> Outcome<SourceFile> {
    find_from(engine, named, None)
}

fn find_from(engine: &Engine, named: &str, from: Option<&Path>) -> Outcome<SourceFile> {
    if !WorkflowSource::is_name(named) {
        if lineage::own_task(engine)?.is_some() {
            return Err(unread(named));
        }
        let path = from.map_or_else(|| PathBuf::from(named), |from| from.join(named));
        return read(&path, named, WorkflowOrigin::Path);
    }
    let in_repository = match lineage::own_project(engine)? {
        Some(project) => checkout_folder(project),
        None => folder(engine).ok(),
    };
    let folders =
        [(in_repository, WorkflowOrigin::Repository), (Some(home_folder(engine)), WorkflowOrigin::User)];
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
    engine.home().root().join("workflows")
}

/// For an agent: the folder in the user's own checkout. It may have written the files of its workspace itself,
/// including links to files that it cannot read.
fn checkout_folder(project: &Project) -> Option<PathBuf> {
    let common_dir = Path::new(&project.common_dir);
    let root = common_dir.parent().filter(|_| common_dir.ends_with(".git"))?.canonicalize().ok()?;
    root.join(".fleet/workflows").canonicalize().ok().filter(|folder| folder.starts_with(&root))
}

/// Codefleet reads no files on behalf of an agent: it might be able to read more.
fn unread(named: &str) -> Problem {
    let message = format!("{}: files of an agent are not read", escaped(named));
    Problem::new(Code::NotYours, message).hint("pass the text of the workflow, or give its name")
}

/// The file of this name in a folder. Two files would make the name ambiguous.
fn in_folder(folder: &Path, name: &str) -> Outcome<Option<PathBuf>> {
    let mut found: Option<PathBuf> = None;
    for (end, _) in FileFormat::ENDS {
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
    Problem::new(Code::WorkflowNotFound, format!("there is no workflow called `{}`", escaped(named)))
        .hints(did_you_mean(named, names(engine).into_iter()))
        .hint("`fleet workflow init --list` lists the starter workflows")
        .hint("a file is named by its path, as in `./NAME.toml`")
}

/// The names for suggestions.
fn names(engine: &Engine) -> Vec<String> {
    let mut names: Vec<String> = SHIPPED.iter().map(|shipped| shipped.name.to_owned()).collect();
    for folder in [folder(engine).ok(), Some(home_folder(engine))].into_iter().flatten() {
        // Only for advice: a folder that cannot be read has none.
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1_000);
        let files = entries.map(|entry| entry.path()).filter(|path| FileFormat::of(path).is_some());
        names.extend(files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())));
    }
    names
}

fn read(path: &Path, label: &str, kind: WorkflowOrigin) -> Outcome<SourceFile> {
    let shown = escaped(label).into_owned();
    let Some(format) = FileFormat::of(path) else {
        let message = format!("{shown}: unknown file type");
        return Err(Problem::new(Code::WorkflowInvalid, message)
            .hint("a workflow ends in .toml, .yaml, .yml or .json")
            .hint("`fleet workflow init` writes one"));
    };
    let text = text_file::read(path, LIMIT).map_err(|why| {
        let told = |code| Problem::new(code, format!("{shown}: {why}"));
        match why {
            Unusable::Missing => {
                told(Code::WorkflowNotFound).hint("`fleet workflow init NAME PATH` writes a starter workflow")
            }
            Unusable::Unread(_) => told(Code::Io),
            _ => told(Code::WorkflowInvalid),
        }
    })?;
    Ok(SourceFile { text, format, path: path.to_owned(), label: label.to_owned(), kind })
}
