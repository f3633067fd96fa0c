//! Setting and unsetting a key in a file.
//!
//! Owns the order of things: check the request, lock, read, edit, check the result, exchange. Must never write
//! over a file that does not parse, nor anything that would not load.

use std::path::Path;

use fleet_core::problem::{Code, Outcome, Problem};

use super::edit;
use super::file::{self, ConfigEntry, without_mark};
use super::key::{Key, KeyScope};
use super::setting::{ConfigFile, Setting};
use super::value::ConfigValue;
use super::{messages, names};
use crate::atomic_file::{AtomicFile, link_at};

/// Sets a key, from what a person wrote, and keeps the rest of the file as it is. Makes the file when there is
/// none.
pub fn set(file: &ConfigFile, name: &str, text: &str) -> Outcome<Setting> {
    let settings = set_all(file, &[(name, text)])?;
    settings.into_iter().next().ok_or_else(|| defect(name))
}

/// Sets several keys, or none of them. Of two values for a key the last one counts.
pub fn set_all(file: &ConfigFile, settings: &[(&str, &str)]) -> Outcome<Vec<Setting>> {
    let check = |(name, text): &(&str, &str)| checked(file, names::find(name)?, name, text);
    let values = settings.iter().map(check).collect::<Outcome<Vec<_>>>()?;
    let exclusive = acquire(file)?;
    let old = file::read(file.path())?.unwrap_or_default();
    let mut new = without_mark(&old).to_owned();
    for ((name, _), (_, written)) in settings.iter().zip(&values) {
        let path: Vec<&str> = name.split('.').collect();
        let document = file::document(file.path(), &new)?;
        new = edit::put(&document, &path, written).map_err(|problem| problem.at(&file.path().display()))?;
    }
    let last = |name: &str| settings.iter().rposition(|(other, _)| *other == name);
    let mut set = Vec::new();
    for (at, ((name, _), (value, _))) in settings.iter().zip(&values).enumerate() {
        if last(name) == Some(at) {
            let line = read_back(file, &new, name, value)?;
            set.push(Setting { key: (*name).to_owned(), value: value.clone(), origin: file.origin(line) });
        }
    }
    exchange(&exclusive, file.path(), &old, &new)?;
    Ok(set)
}

/// Takes a key out of a file and keeps the rest as it is; tells whether it was there. A name that is not a key can
/// be taken out too, as long as it is there.
pub fn unset(file: &ConfigFile, name: &str) -> Outcome<bool> {
    let known = names::find(name).map(drop);
    if file::read(file.path())?.is_none() {
        return known.map(|()| false);
    }
    let exclusive = acquire(file)?;
    let old = file::read(file.path())?.unwrap_or_default();
    let document = file::document(file.path(), without_mark(&old))?;
    let path: Vec<&str> = name.split('.').collect();
    match edit::take(&document, &path) {
        Ok(Some(new)) => {
            file::document(file.path(), &new).map_err(|_| defect(name))?;
            exchange(&exclusive, file.path(), &old, &new)?;
            Ok(true)
        }
        Ok(None) => known.map(|()| false),
        Err(problem) => known.and(Err(problem.at(&file.path().display()))),
    }
}

/// What is written in a file now; `None` when there is no file.
pub fn text(file: &ConfigFile) -> Outcome<Option<String>> {
    file::read(file.path())
}

/// Whether a text would be right in every line of this file.
pub(crate) fn check_text(file: &ConfigFile, text: &str) -> Outcome<()> {
    file::parse(file, without_mark(text)).problems.into_iter().next().map_or(Ok(()), Err)
}

/// Replaces the whole text of a file, if it is still `old` and the new one is right in every line.
pub fn replace(file: &ConfigFile, old: Option<&str>, new: &str) -> Outcome<()> {
    check_text(file, new)?;
    let exclusive = acquire(file)?;
    if file::read(file.path())?.as_deref() != old {
        let what = format!("another process changed {} at the same time", file.path().display());
        return Err(Problem::new(Code::Changed, what));
    }
    exclusive.replace(new).map_err(|error| unwritable(file.path(), &error))
}

fn checked(file: &ConfigFile, key: &Key, name: &str, text: &str) -> Outcome<(ConfigValue, toml_edit::Value)> {
    if key.scope == KeyScope::UserOnly && matches!(file, ConfigFile::Project(_)) {
        return Err(messages::user_only(name));
    }
    if key.kind.lacks_unit(text) {
        return Err(messages::without_unit(name, text));
    }
    let value = ConfigValue::of(key, name, text)?;
    let written = value.to_toml().ok_or_else(|| Problem::new(Code::Internal, "there is nothing to write"))?;
    Ok((value, written))
}

/// The line in which the key now stands. The last guard before a file is replaced.
fn read_back(file: &ConfigFile, text: &str, name: &str, value: &ConfigValue) -> Outcome<usize> {
    let is_it = |entry: &&ConfigEntry| entry.name == name && entry.value == *value;
    let content = file::parse(file, text);
    content.entries.iter().find(is_it).map(|entry| entry.line).ok_or_else(|| defect(name))
}

/// Refuses to follow a link that may have come with a repository.
pub fn check_plain(file: &ConfigFile) -> Outcome<()> {
    match (file, link_at(file.path())) {
        (ConfigFile::Project(_), Some(link)) => {
            Err(Problem::new(Code::ConfigInvalid, format!("{} is a link", link.display()))
                .hint("a repository's configuration is changed only in a plain file"))
        }
        _ => Ok(()),
    }
}

fn acquire(file: &ConfigFile) -> Outcome<AtomicFile> {
    check_plain(file)?;
    let path = file.path();
    AtomicFile::acquire(path).map_err(|error| unwritable(path, &error))
}

/// The mark in front of the old text stays in front of the new one.
fn exchange(exclusive: &AtomicFile, path: &Path, old: &str, new: &str) -> Outcome<()> {
    let body = without_mark(old);
    if body == new {
        return Ok(());
    }
    let mark = &old[..old.len() - body.len()];
    exclusive.replace(&format!("{mark}{new}")).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(Code::Io, format!("{}: cannot be written: {error}", path.display()))
}

fn defect(name: &str) -> Problem {
    Problem::new(
        Code::Internal,
        format!("setting `{name}` would have damaged the file, so it was left alone"),
    )
}
