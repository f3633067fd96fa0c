//! `fleet config edit`

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
        let draft = draft(file.path(), &before)?;
        edit(context.engine.environment(), &draft)?;
        let after = read_file(&draft)?;
        if after == before {
            // Failing to tidy up is no reason to say that the edit failed.
            let _ = std::fs::remove_file(&draft);
            return context
                .output
                .show(&serde_json::json!({ "changed": false, "path": file.path() }), || {
                    "nothing changed".to_owned()
                });
        }
        config::replace(&file, &after).map_err(|problem| {
            problem.hint(format!("the file was not changed; your text is in {}", draft.display()))
        })?;
        let _ = std::fs::remove_file(&draft);
        let answer = serde_json::json!({ "changed": true, "path": file.path() });
        context.output.show(&answer, || format!("saved {}", file.path().display()))
    }
}

/// A copy to work on, beside the file, so that nobody ever reads a half-edited configuration.
fn draft(path: &Path, text: &str) -> Outcome<PathBuf> {
    let failed = |error: std::io::Error| {
        Problem::new(Code::Io, format!("cannot write a draft of {}: {error}", path.display()))
    };
    let draft = path.with_extension("draft.toml");
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(&draft, text).map_err(failed)?;
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
