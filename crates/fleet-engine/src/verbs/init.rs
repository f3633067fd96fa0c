//! Writes the configuration file of a project, for its team.
//!
//! Owns what such a file begins with. Must never replace a file unasked, and never write through a link: a repository
//! could have put one there.

mod presets;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fleet_api::verbs::init::{Answer, ProjectType, Request};

use super::prelude::*;
use crate::atomic_file::{AtomicFile, link_at};
use crate::config::{self, ConfigFile, ConfigValue, ProjectLine};
use crate::text_file::{self, Unusable};

pub(super) use presets::Preset;

/// What codefleet may leave in `.fleet` that nobody commits: locks while it writes, and backups.
const IGNORED: [&str; 2] = [".fleet/.*", ".fleet/*.backup"];
/// More is no list of patterns.
const LONGEST_IGNORE_FILE: u64 = 1 << 20;
/// Nobody keeps more; it only bounds the search for a free name.
const MOST_BACKUPS: u32 = 1_000;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    engine.position().check_reach()?;
    let file = engine.project_config()?;
    let root = tree(engine)?;
    let has = |path: &str| root.join(path).exists();
    let kind = request.kind.unwrap_or_else(|| presets::detect(&has));
    let text = text(kind, &presets::preset(kind, &has));
    let old = config::text(&file)?;
    if old.is_some() && !request.force {
        return Err(taken(&file));
    }
    // Before anything is read into a backup or written.
    config::check_plain(&file)?;
    if request.gitignore {
        check_ignore_file(&root)?;
    }
    let gitignore = missing(&root)?;
    let mut answer = Answer {
        path: file.path().display().to_string(),
        kind,
        needs_trust: needs_trust(&text),
        text,
        backup: None,
        gitignore,
        dry_run: request.dry_run,
    };
    if request.dry_run {
        return Ok(answer);
    }
    if old.is_some() {
        answer.backup = Some(back_up(file.path())?.display().to_string());
    }
    config::replace(&file, old.as_deref(), &answer.text)?;
    if request.gitignore && !answer.gitignore.is_empty() {
        ignore(&root, &answer.gitignore)?;
    }
    Ok(answer)
}

/// The work tree of the directory's repository.
pub(super) fn tree(engine: &Engine) -> Outcome<PathBuf> {
    let tree = engine.repository()?.work_tree.clone();
    tree.ok_or_else(|| Problem::new(Code::NotARepository, "a bare repository has no work tree"))
}

fn taken(file: &ConfigFile) -> Problem {
    Problem::new(Code::InvalidValue, format!("{} exists already", file.path().display()))
        .hint("`fleet config edit --in-project` edits it; `fleet config --show-origin` shows what it sets")
        .hint("`fleet init --force` replaces it, and keeps a backup")
}

/// The text of a project's file: what is known is set, the rest is there to be filled in.
pub(super) fn text(kind: ProjectType, preset: &Preset) -> String {
    let list = |items: &[String], example: &str| match items {
        [] => (ConfigValue::List(vec![example.to_owned()]), false),
        items => (ConfigValue::List(items.to_vec()), true),
    };
    let agent = preset.agent.clone().map_or(("claude".to_owned(), false), |agent| (agent, true));
    let all = [
        ("agent", (ConfigValue::String(agent.0), agent.1)),
        ("workspaces.copy", list(&preset.copy, ".env")),
        ("workspaces.setup", list(&preset.setup, "make deps")),
        ("workspaces.checks", (ConfigValue::List(preset.suggested_checks.clone()), false)),
        ("workspaces.keep_ignored", (ConfigValue::Boolean(true), false)),
        ("tasks.branch_prefix", (ConfigValue::String("agents/".to_owned()), false)),
        ("limits.time", (ConfigValue::String("1h".to_owned()), false)),
    ];
    let shown = if kind == ProjectType::Minimal { 4 } else { all.len() };
    let lines = all.into_iter().take(shown).map(|(key, (value, is_set))| ProjectLine { key, value, is_set });
    config::project_template(&lines.collect::<Vec<_>>())
}

/// Whether it sets anything: all that it sets needs consent.
pub(super) fn needs_trust(text: &str) -> bool {
    text.lines().any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// A copy beside it, under a name that is free.
pub(super) fn back_up(path: &Path) -> Outcome<PathBuf> {
    let text = fs::read(path).map_err(problems::at(path))?;
    let free = free_name(path)?;
    let written = fs::OpenOptions::new().write(true).create_new(true).open(&free).and_then(|mut file| {
        file.write_all(&text)?;
        file.sync_all()
    });
    written.map_err(problems::at(&free))?;
    Ok(free)
}

/// `config.toml.backup`, `config.toml.2.backup` and so on: the first that is not taken.
pub(super) fn free_name(path: &Path) -> Outcome<PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let names = std::iter::once(format!("{name}.backup"))
        .chain((2..MOST_BACKUPS).map(|number| format!("{name}.{number}.backup")));
    let free = names.map(|name| path.with_file_name(name)).find(|path| path.symlink_metadata().is_err());
    free.ok_or_else(|| Problem::new(Code::Io, format!("{}: there are too many backups", path.display())))
}

/// The lines that `.gitignore` lacks.
fn missing(root: &Path) -> Outcome<Vec<String>> {
    let text = read_ignore_file(&root.join(".gitignore"))?;
    let has = |wanted: &&str| text.lines().any(|line| line.trim() == *wanted);
    Ok(IGNORED.into_iter().filter(|wanted| !has(wanted)).map(ToOwned::to_owned).collect())
}

fn check_ignore_file(root: &Path) -> Outcome<()> {
    let path = root.join(".gitignore");
    match link_at(&path).filter(|link| *link == path) {
        Some(link) => {
            Err(Problem::new(Code::Io, format!("{} is a link, so it was left as it is", link.display())))
        }
        None => Ok(()),
    }
}

fn ignore(root: &Path, lines: &[String]) -> Outcome<()> {
    check_ignore_file(root)?;
    let path = root.join(".gitignore");
    let file = AtomicFile::acquire(&path).map_err(problems::at(&path))?;
    let old = read_ignore_file(&path)?;
    let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    file.replace(&format!("{old}{end}{}\n", lines.join("\n"))).map_err(problems::at(&path))
}

fn read_ignore_file(path: &Path) -> Outcome<String> {
    match text_file::read(path, LONGEST_IGNORE_FILE) {
        Ok(text) => Ok(text),
        Err(Unusable::Missing) => Ok(String::new()),
        Err(why) => Err(Problem::new(Code::Io, format!("{}: {why}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_file_is_one_that_the_engine_reads() {
        let file = ConfigFile::Project("config.toml".into());
        for kind in ProjectType::ALL {
            let text = text(kind, &presets::preset(kind, &|_| true));
            let filled = text.replace("\n# agent", "\nagent").replace("\n# workspaces", "\nworkspaces");
            let filled = filled.replace("\n# tasks", "\ntasks").replace("\n# limits", "\nlimits");
            for text in [&text, &filled] {
                config::check_text(&file, text)
                    .unwrap_or_else(|problem| panic!("{kind:?}: {problem}\n{text}"));
            }
            assert!(needs_trust(&filled), "{filled}");
        }
        let nothing = text(ProjectType::Generic, &Preset::default());
        assert!(!needs_trust(&nothing), "{nothing}");
    }

    #[test]
    fn what_a_node_project_gets() {
        let preset = presets::preset(ProjectType::Node, &|file| file == "package-lock.json");
        insta::assert_snapshot!(text(ProjectType::Node, &preset));
    }

    #[test]
    fn a_backup_never_replaces_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, "one").unwrap();
        let first = back_up(&path).unwrap();
        fs::write(&path, "two").unwrap();
        let second = back_up(&path).unwrap();
        assert_eq!(
            (fs::read_to_string(&first).unwrap(), fs::read_to_string(&second).unwrap()),
            ("one".into(), "two".into())
        );
        assert!(second.ends_with("config.toml.2.backup"));
    }
}
