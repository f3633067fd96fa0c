use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_api::verbs::workflow_init::{Answer, Request};
use fleet_api::views::FileFormat;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use serde::Serialize;

use super::super::Context;
use crate::Done;
use crate::output::{columns, dim, strong, table};

/// Write a starter workflow
///
/// It goes to `.fleet/workflows` of the repository, where all commands find it by its name, and is yours to change.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 10)]
pub(crate) struct Init {
    /// Which one [default: write-review-refine]
    name: Option<String>,
    /// Write it to this file instead
    path: Option<PathBuf>,
    /// List them, write nothing
    #[arg(long, conflicts_with_all = ["name", "path", "force", "format"])]
    list: bool,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// File format [default: from the path, or toml]; only TOML has the comments
    #[arg(long, value_name = "FORMAT")]
    format: Option<FileFormat>,
}

const EXAMPLES: &str = "Examples:
  fleet workflow init --list
  fleet workflow init bug-hunt
  fleet workflow init compete-judge race.yaml";

impl Init {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.list {
            return list(context).await;
        }
        let format = self.format()?;
        let request = Request { name: self.name, format, for_repository: self.path.is_none() };
        let workflow = context.call(request).await?;
        let (path, named) = match (self.path, &workflow.folder) {
            (Some(path), _) => (path.clone(), path.display().to_string()),
            (None, folder) => {
                let folder = own_folder(Path::new(folder.as_deref().unwrap_or_default()))?;
                (folder.join(format!("{}.{}", workflow.name, workflow.format.end())), workflow.name.clone())
            }
        };
        write(&path, &workflow.text, if self.force { Existing::Replace } else { Existing::Keep })?;
        let Answer { name, format, .. } = workflow;
        let written = Written { name, path: path.display().to_string(), format, named };
        context.output.show(&written, || {
            format!("wrote {}", strong(&escaped(&context.shortest_path(&written.path))))
        })?;
        let named = escaped(&written.named);
        context.output.note(&dim(&format!(
            "change it as you like, then: fleet workflow check {named}\nto run it: fleet workflow run {named} --task \"…\""
        )));
        Ok(())
    }

    /// What was asked for, or what the name of the file says.
    fn format(&self) -> Outcome<Option<FileFormat>> {
        let Some(path) = &self.path else { return Ok(self.format) };
        let shown = escaped(&path.display().to_string()).into_owned();
        match (FileFormat::of(path), self.format) {
            (Some(said), Some(wanted)) if said != wanted => {
                let message = format!("{shown} does not have the extension of {}", wanted.end());
                Err(Problem::new(Code::InvalidValue, message)
                    .hint("leave out `--format`, or change the name"))
            }
            (Some(format), _) => Ok(Some(format)),
            (None, _) => {
                let message = format!("{shown}: unknown file type");
                Err(Problem::new(Code::InvalidValue, message)
                    .hint("a workflow ends in .toml, .yaml, .yml or .json"))
            }
        }
    }
}

#[derive(Debug, Serialize)]
struct Written {
    name: String,
    path: String,
    format: FileFormat,
    /// How to name it to other commands.
    named: String,
}

/// What happens to a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Keep,
    Replace,
}

/// The folder of the repository's own workflows. A repository could hold a link in its place, and then the file would go
/// where the owner of the repository wants it.
fn own_folder(folder: &Path) -> Outcome<&Path> {
    for dir in [folder.parent().unwrap_or(folder), folder] {
        if dir.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            let message = format!("{} is a link", dir.display());
            return Err(Problem::new(Code::Io, message).hint("name the file that you want to write"));
        }
    }
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    Ok(folder)
}

fn write(path: &Path, text: &str, existing: Existing) -> Outcome<()> {
    if existing == Existing::Replace {
        // The name and not what it links to.
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(unwritable(path, &error)),
            _ => {}
        }
    }
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Problem::new(Code::InvalidValue, format!("{} exists already", path.display()))
                .hint("`--force` replaces it; `fleet workflow init NAME PATH` writes another file")
        }
        _ => unwritable(path, &error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(Code::Io, format!("{}: {error}", path.display()))
}

async fn list(context: &Context) -> Done {
    let all = context.call(Request::default()).await?.shipped;
    context.output.show(&serde_json::json!({ "workflows": all }), || {
        let column = columns(&all);
        table(vec![
            column("WORKFLOW", &|one| one.name.clone()),
            column("WHAT IT DOES", &|one| one.about.clone()).giving_way(),
        ])
    })?;
    context.output.note(&dim("`fleet workflow init NAME` writes one into this repository"));
    Ok(())
}
