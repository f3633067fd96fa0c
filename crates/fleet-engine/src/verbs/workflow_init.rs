//! Writes a workflow to begin with.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use serde::Serialize;

use crate::config::nearest;
use crate::workflow_file::{self, Format, SHIPPED, Shipped};
use crate::{Engine, problems};

/// What to write.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which of the shipped ones; none is the first.
    pub name: Option<String>,
    /// Where; none is the folder of the repository.
    pub path: Option<PathBuf>,
    /// How; none is what the path says, or TOML.
    pub format: Option<Format>,
    /// What happens to a file that is there.
    pub existing: Existing,
}

/// What happens to a file that is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    #[default]
    Keep,
    /// It is replaced.
    Replace,
}

/// What was written.
#[derive(Debug, Clone, Serialize)]
pub struct Written {
    /// What the workflow is called: its file is found by this name where it is in the repository.
    pub name: String,
    /// The file.
    pub path: String,
    /// Its format.
    pub format: Format,
    /// How to name it to other commands.
    pub named: String,
}

/// Writes the file.
pub fn run(engine: &Engine, request: &Request) -> Outcome<Written> {
    let shipped = shipped(request.name.as_deref())?;
    let format = format(request)?;
    let (path, named) = if let Some(path) = &request.path {
        (path.clone(), path.display().to_string())
    } else {
        let folder = own_folder(engine)?;
        (folder.join(format!("{}.{}", shipped.name, format.end())), shipped.name.to_owned())
    };
    write(&path, &workflow_file::written(shipped.text, format), request.existing)?;
    Ok(Written { name: shipped.name.to_owned(), path: path.display().to_string(), format, named })
}

fn shipped(name: Option<&str>) -> Outcome<&'static Shipped> {
    let Some(name) = name else {
        return SHIPPED.first().ok_or_else(|| Problem::new(Code::Internal, "there are no workflows"));
    };
    SHIPPED.iter().find(|shipped| shipped.name == name).ok_or_else(|| {
        let message = format!("no workflow called `{}` comes with codefleet", escaped(name));
        let problem = Problem::new(Code::NothingMatched, message);
        let problem = match nearest(name, SHIPPED.iter().map(|shipped| shipped.name.to_owned())) {
            Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
            None => problem,
        };
        problem
            .hint("`fleet workflow init --list` shows them")
            .hint(format!("a file of your own name: `fleet workflow init {} PATH`", SHIPPED[0].name))
    })
}

fn format(request: &Request) -> Outcome<Format> {
    let Some(path) = &request.path else { return Ok(request.format.unwrap_or(Format::Toml)) };
    let shown = escaped(&path.display().to_string()).into_owned();
    match (Format::of(path), request.format) {
        (Some(said), Some(wanted)) if said != wanted => {
            let message = format!("{shown} would not end as a file in {}", wanted.end());
            Err(Problem::new(Code::InvalidValue, message).hint("leave out `--format`, or change the name"))
        }
        (Some(format), _) => Ok(format),
        (None, _) => {
            let message = format!("{shown}: its name does not say what it is");
            Err(Problem::new(Code::InvalidValue, message)
                .hint("a workflow ends in .toml, .yaml, .yml or .json"))
        }
    }
}

/// The folder of the repository's own workflows. A repository could hold a link in its place, and then the file would go
/// where whoever made the repository wants it.
fn own_folder(engine: &Engine) -> Outcome<PathBuf> {
    let folder = workflow_file::folder(engine)?;
    for dir in [folder.parent().unwrap_or(&folder), &folder] {
        if dir.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            let message = format!("{} is a link, and what is written there goes elsewhere", dir.display());
            return Err(Problem::new(Code::Io, message).hint("name the file that you want to write"));
        }
    }
    fs::create_dir_all(&folder).map_err(|error| problems::io(&folder, &error))?;
    Ok(folder)
}

fn write(path: &Path, text: &str, existing: Existing) -> Outcome<()> {
    if existing == Existing::Replace {
        // The name and not what it links to.
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(problems::io(path, &error)),
            _ => {}
        }
    }
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Problem::new(Code::InvalidValue, format!("{} exists already", path.display()))
                .hint("`--force` replaces it; `fleet workflow init NAME PATH` writes another file")
        }
        _ => problems::io(path, &error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| problems::io(path, &error))
}
