//! `fleet config edit`

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::config;
use fleet_engine::environment::Environment;

use super::super::Context;
use super::super::text_input::read_file;
use super::file;
use crate::Done;

/// Edit your configuration file in $VISUAL or $EDITOR
///
/// A new file begins with every setting, commented out. What you saved is checked first; only a right file
/// replaces the old one.
#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// The file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    in_project: bool,
}

impl Edit {
    pub(crate) fn run(self, context: &Context) -> Done {
        let file = file(context, self.in_project)?;
        let old = config::text(&file)?;
        let before = old.clone().unwrap_or_else(config::template);
        let draft = draft(context.engine.home(), &before)?;
        edit(context.engine.environment(), &draft)?;
        let after = read_file(&draft)?;
        if after != before {
            config::replace(&file, old.as_deref(), &after).map_err(|problem| {
                problem.hint(format!("the file was not changed; your text is in {}", draft.display()))
            })?;
        }
        // Failing to tidy up is no reason to say that the edit failed.
        let _ = std::fs::remove_file(&draft);
        let answer = serde_json::json!({ "changed": after != before, "path": file.path() });
        context.output.show(&answer, || {
            if after == before {
                "nothing changed".to_owned()
            } else {
                format!("saved {}", file.path().display())
            }
        })
    }
}

/// A copy to work on, so that nobody ever reads a half-edited configuration: private, because it may hold a
/// password, and new each time, because an earlier one may hold what somebody could not save. Never inside a
/// repository, which could have put a link in its place.
fn draft(home: &Path, text: &str) -> Outcome<PathBuf> {
    let failed = |error: std::io::Error| {
        Problem::new(Code::Io, format!("cannot write a draft in {}: {error}", home.display()))
    };
    DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(failed)?;
    let draft = home.join(format!("config.draft-{}.toml", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(draft)
}

fn edit(environment: &Environment, draft: &Path) -> Done {
    let chosen = match environment.get("VISUAL")? {
        Some(editor) => Some(editor),
        None => environment.get("EDITOR")?,
    };
    let editor = chosen.unwrap_or("vi");
    fleet_engine::edit_file(editor, draft)
}
