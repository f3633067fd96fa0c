//! `fleet config edit`

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use fleet_api::verbs::{config_replace, config_text};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::super::Context;
use super::super::open::program;
use super::super::text_input::read_file;
use crate::Done;

/// Edit your configuration file in $VISUAL or $EDITOR
///
/// A new file begins with every setting, commented out. Your text is checked first; only a valid file replaces the old
/// one.
#[derive(Debug, Args)]
#[command(display_order = 50)]
pub(crate) struct Edit {
    /// The file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    in_project: bool,
}

impl Edit {
    /// The user's own file.
    pub(super) const fn own() -> Self {
        Self { in_project: false }
    }

    pub(crate) async fn run(self, context: &Context) -> Done {
        let in_project = self.in_project;
        let config_text::Answer { path, text: old, template } =
            context.call(config_text::Request { in_project }).await?;
        let before = old.clone().unwrap_or(template);
        let draft = draft(context.engine.home().root(), &before)?;
        let refused = |problem| abandoned(problem, &draft, &before);
        let editor = program(context, &["VISUAL", "EDITOR"], "vi");
        editor.and_then(|editor| fleet_engine::edit_file(&editor, &draft)).map_err(refused)?;
        let after = read_file(&draft).map_err(refused)?;
        if after != before {
            let request = config_replace::Request { in_project, before: old, after: after.clone() };
            context.call(request).await.map_err(refused)?;
        }
        // Failing to tidy up is no reason to say that the edit failed.
        let _ = std::fs::remove_file(&draft);
        let answer = serde_json::json!({ "changed": after != before, "path": path });
        context.output.show(&answer, || {
            if after == before { "nothing changed".to_owned() } else { format!("saved {}", escaped(&path)) }
        })
    }
}

/// Nobody keeps more than this; it only bounds the search for a free name.
const MOST_DRAFTS: u32 = 1_000;

/// A copy to work on, so that nobody ever reads a half-edited configuration: private, because it may hold a
/// password, and new each time, because an earlier one may hold what somebody could not save. Never inside a
/// repository, which could have put a link in its place.
fn draft(home: &Path, text: &str) -> Outcome<PathBuf> {
    let failed = |error: std::io::Error| {
        Problem::new(Code::Io, format!("cannot write a draft in {}: {error}", home.display()))
    };
    DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(failed)?;
    let mut number = 1;
    loop {
        let name =
            if number == 1 { "config.draft.toml".to_owned() } else { format!("config.draft-{number}.toml") };
        let draft = home.join(name);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_DRAFTS => number += 1,
            opened => {
                opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
                return Ok(draft);
            }
        }
    }
}

/// Nothing was saved: what somebody wrote stays, a draft without a word of theirs does not.
fn abandoned(problem: Problem, draft: &Path, before: &str) -> Problem {
    if std::fs::read(draft).is_ok_and(|text| text != before.as_bytes()) {
        return problem.hint(format!("the file was not changed; your text is in {}", draft.display()));
    }
    // Failing to tidy up is not what went wrong.
    let _ = std::fs::remove_file(draft);
    problem
}
