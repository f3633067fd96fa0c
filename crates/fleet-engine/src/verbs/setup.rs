//! Registers our tool server in the settings of the programs that people work with, and takes that back.
//!
//! Owns the order of things: read, look whose entry there is, edit, show, exchange. Must never touch anything else in a
//! file that belongs to another program, never write over one that it does not understand, and never over another one's
//! entry unasked.

mod client;
mod difference;
mod entry;
mod json;
mod ledger;
#[cfg(test)]
mod tests;
mod toml;

use std::fs;
use std::path::Path;

use fleet_api::verbs::setup::{Answer, NAME, Request, SetupAction, SetupClient, SetupOutcome, SetupScope};
use fleet_api::verbs::setup_list::ClientStatus;
use fleet_core::text::escaped;
use serde::{Deserialize, Serialize};

use super::prelude::*;
use crate::atomic_file::{AtomicFile, link_at};
use crate::text_file::{self, Unusable};
use client::ClientSettings as _;
use difference::changes;
use entry::ServerEntry;
use ledger::{SetupLedger, SetupNote};

/// Some clients keep their whole history in their settings; a larger file is not one.
const LIMIT: u64 = 64 * 1024 * 1024;

/// How much of a file is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Made {
    Entry,
    Table,
    File,
}

struct Edited {
    text: String,
    made: Made,
}

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    engine.position().check_reach()?;
    register(engine, request)
}

fn register(engine: &Engine, request: Request) -> Outcome<Answer> {
    let file = request.client.file(engine, request.scope)?;
    if let (SetupScope::Project, Some(link)) = (request.scope, link_at(&file)) {
        return Err(broken(link, "it is a link, and in a repository only plain files are written"));
    }
    let wanted = ServerEntry::ours(engine, request.scope)?;
    let before = read(&file)?;
    let SetupPlan { done, after, note } = plan(engine, request, &file, before.as_deref(), &wanted)?;
    let changes = changes(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
    if !request.dry_run && !matches!(done, SetupOutcome::Unchanged | SetupOutcome::Absent) {
        exchange(&file, before.as_deref(), after.as_deref())?;
        SetupLedger::new(engine.home().root()).keep(&file, note)?;
    }
    Ok(Answer {
        client: request.client,
        scope: request.scope,
        file: file.display().to_string(),
        done,
        command: wanted.words,
        changes,
        dry_run: request.dry_run,
    })
}

/// Writes the new text, or takes the file away. Clients write their settings at any time: what came since they were read
/// must not be lost.
fn exchange(file: &Path, before: Option<&str>, after: Option<&str>) -> Outcome<()> {
    let exclusive = AtomicFile::acquire(file).map_err(problems::at(file))?;
    if fs::read(file).ok().as_deref() != before.map(str::as_bytes) {
        let message = format!("another process changed {} at the same time", file.display());
        return Err(Problem::new(Code::Changed, message).hint("nothing was changed; try again"));
    }
    let exchanged = after.map_or_else(|| exclusive.remove(), |text| exclusive.replace(text));
    exchanged.map_err(problems::at(file))
}

pub(super) fn status(engine: &Engine, client: SetupClient, scope: SetupScope) -> Outcome<ClientStatus> {
    let file = client.file(engine, scope)?;
    let wanted = ServerEntry::ours(engine, scope)?;
    let found = read(&file).and_then(|text| look(client, &file, text.as_deref()));
    let (status, command, problem) = match found {
        Err(problem) => ("unreadable", Vec::new(), Some(problem.to_string())),
        Ok(None) => ("absent", Vec::new(), None),
        Ok(Some(entry)) if entry.is_equivalent_to(&wanted) => ("registered", entry.words, None),
        Ok(Some(entry)) if entry.is_ours(&wanted) => ("outdated", entry.words, None),
        Ok(Some(entry)) => ("foreign", entry.words, None),
    };
    let installed = engine.environment().find_program(client.name()).is_some();
    let (file, status) = (file.display().to_string(), status.to_owned());
    Ok(ClientStatus { client, scope, installed, file, status, command, problem })
}

struct SetupPlan {
    done: SetupOutcome,
    /// The new text; nothing when the file goes.
    after: Option<String>,
    note: SetupNote,
}

fn plan(
    engine: &Engine,
    request: Request,
    file: &Path,
    before: Option<&str>,
    wanted: &ServerEntry,
) -> Outcome<SetupPlan> {
    let client = request.client;
    let found = look(client, file, before)?;
    let stay = |done| SetupPlan { done, after: before.map(ToOwned::to_owned), note: SetupNote::ENTRY };
    if let Some(entry) = found.as_ref().filter(|entry| !entry.is_ours(wanted) && !request.force) {
        return Err(taken(file, entry, request.wish));
    }
    let text = before.unwrap_or_default();
    let ledger = SetupLedger::new(engine.home().root());
    match (request.wish, found) {
        (SetupAction::Remove, None) => Ok(stay(SetupOutcome::Absent)),
        (SetupAction::Remove, Some(_)) => {
            let note = ledger.note(file);
            let is_clean = |text: &String| matches!(client.found(text), Ok(None));
            // A file that we made is removed as a whole, if nothing else was written to it.
            let undone = note.undone(text).filter(|_| note.made != Made::File).filter(is_clean);
            let after = match undone {
                Some(text) => Some(text),
                None => client.without(text, note.made).map_err(|why| broken(file, &why))?,
            };
            Ok(SetupPlan { done: SetupOutcome::Removed, after, note: SetupNote::ENTRY })
        }
        (SetupAction::Add, Some(entry)) if entry.is_equivalent_to(wanted) => {
            Ok(stay(SetupOutcome::Unchanged))
        }
        (SetupAction::Add, found) => {
            let Edited { text: after, made } = client.with(text, wanted).map_err(|why| broken(file, &why))?;
            let note = match (before, &found) {
                (_, Some(_)) => ledger.note(file),
                (None, None) => SetupNote::of(Made::File, text, &after),
                (Some(_), None) => SetupNote::of(made, text, &after),
            };
            // The last guard before a file is replaced.
            if !look(client, file, Some(&after))?.is_some_and(|entry| entry.is_equivalent_to(wanted)) {
                return Err(Problem::new(
                    Code::Internal,
                    format!("{} would have been damaged", file.display()),
                ));
            }
            let done = if found.is_some() { SetupOutcome::Updated } else { SetupOutcome::Added };
            Ok(SetupPlan { done, after: Some(after), note })
        }
    }
}

fn look(client: SetupClient, file: &Path, text: Option<&str>) -> Outcome<Option<ServerEntry>> {
    text.map_or(Ok(None), |text| client.found(text)).map_err(|why| broken(file, &why))
}

/// The text of a file, or nothing when there is none.
fn read(path: &Path) -> Outcome<Option<String>> {
    match text_file::read(path, LIMIT) {
        Ok(text) => Ok(Some(text)),
        Err(Unusable::Missing) => Ok(None),
        Err(Unusable::Unread(error)) => Err(problems::at(path)(error)),
        Err(why) => Err(broken(path, &why.to_string())),
    }
}

fn broken(file: &Path, why: &str) -> Problem {
    Problem::new(Code::SetupRefused, format!("{}: {}", file.display(), escaped(why)))
        .hint("the file was left as it is; fix it, then try again")
}

fn taken(file: &Path, entry: &ServerEntry, wish: SetupAction) -> Problem {
    let what = match entry.words.as_slice() {
        [] => "something that is not a program".to_owned(),
        words => format!("`{}`", escaped(&words.join(" "))),
    };
    let instead = if wish == SetupAction::Add { "replaces it" } else { "removes it anyway" };
    let message = format!("{}: `{NAME}` is registered there for {what}", file.display());
    Problem::new(Code::SetupRefused, message).hint(format!("the file was left as it is; `--force` {instead}"))
}
