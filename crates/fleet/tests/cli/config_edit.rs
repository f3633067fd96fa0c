//! `fleet config edit` with editors that are scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use fleet_testkit::fleet::{Fleet, Output};

use super::support::World;

/// A repository, an editor's script, and where it says which file it was given.
struct Desk {
    world: World,
    dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { world: World::sqlite(), dir: tempfile::tempdir().unwrap() }
    }

    /// Edits with a script of shell in which `$1` is the file.
    fn edit(&self, script: &str, options: &[&str]) -> (Output, PathBuf) {
        let [editor, seen] = ["editor.sh", "seen"].map(|name| self.dir.path().join(name));
        let whole = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$1\" > '{}'\nls -l \"$1\" | cut -c1-10 >> '{0}'\n{script}\n",
            seen.display()
        );
        fs::write(&editor, whole).unwrap();
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).unwrap();
        let fleet = self.fleet().env("VISUAL", &editor).env("EDITOR", "false");
        let mut arguments = vec!["config", "edit"];
        arguments.extend(options);
        let output = fleet.run(&arguments);
        let told =
            fs::read_to_string(&seen).unwrap_or_else(|_| panic!("the editor did not run: {}", output.stderr));
        let (draft, mode) = told.trim_end().split_once('\n').unwrap();
        assert_eq!(mode, "-rw-------", "a draft may hold a password");
        let draft = PathBuf::from(draft);
        assert!(!draft.starts_with(self.world.repo.path()), "{}", draft.display());
        (output, draft)
    }

    fn fleet(&self) -> &Fleet {
        &self.world.fleet
    }

    fn file(&self) -> PathBuf {
        self.fleet().home().join("config.toml")
    }
}

#[test]
fn what_is_right_is_saved() {
    let desk = Desk::new();
    let (output, draft) = desk.edit("grep -q '^# ' \"$1\" && echo 'agent = \"codex\"' >> \"$1\"", &[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert_eq!(output.stdout, format!("saved {}\n", desk.file().display()));
    assert_eq!(desk.fleet().ok(&["config", "get", "agent"]), "codex\n");
    assert_eq!(fs::metadata(desk.file()).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!draft.exists(), "the draft is gone");
    let (output, _) = desk.edit("echo 'agent = \"claude\"' > \"$1\"", &["--in-project"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(desk.fleet().ok(&["config", "get", "agent"]), "claude\n");
}

#[test]
fn what_was_left_as_it_was_is_not_written() {
    let desk = Desk::new();
    let (output, draft) = desk.edit("true", &[]);
    assert_eq!((output.code, output.stdout.as_str()), (0, "nothing changed\n"));
    assert!(!desk.file().exists() && !draft.exists());
}

#[test]
fn what_is_wrong_is_kept_beside_the_old_file() {
    let desk = Desk::new();
    fs::write(desk.file(), "agent = \"codex\"\n").unwrap();
    let (output, draft) = desk.edit("echo 'agnet = \"x\"' > \"$1\"", &[]);
    assert_eq!(output.code, 6, "{}", output.stderr);
    assert!(output.stderr.contains("did you mean `agent`?"), "{}", output.stderr);
    assert!(output.stderr.contains(draft.to_str().unwrap()), "{}", output.stderr);
    assert_eq!(fs::read_to_string(&draft).unwrap(), "agnet = \"x\"\n");
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), "agent = \"codex\"\n");
    let (again, _) = desk.edit("echo 'agent = \"claude\"' > \"$1\"", &[]);
    assert_eq!(again.code, 0, "the old draft is not in the way: {}", again.stderr);
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let desk = Desk::new();
    fs::write(desk.file(), "agent = \"codex\"\n").unwrap();
    let (output, _) = desk.edit("echo garbage > \"$1\"; exit 3", &[]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stderr.contains("your text is in "), "{}", output.stderr);
    assert_eq!(fs::read_to_string(desk.file()).unwrap(), "agent = \"codex\"\n");
    let missing = desk.fleet().env("EDITOR", "no-such-editor").run(&["config", "edit"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("no-such-editor"), "{}", missing.stderr);
    let entries = fs::read_dir(desk.fleet().home()).unwrap().map(|entry| entry.unwrap().file_name());
    let drafts: Vec<_> = entries.filter(|name| name.to_string_lossy().contains("draft")).collect();
    assert_eq!(drafts, ["config.draft.toml"], "what somebody wrote is kept, and nothing else");
}
