//! The texts that prompts are made from: our own, or those that the user or the project put in their place.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use fleet_host::plain;

use crate::problems::chain;
use crate::trust::{ConsentStore, ProjectFile, ProjectWishes};

/// Longer ones are a mistake.
const MAX_BYTES: u64 = 256 * 1024;

/// One template for each kind of beginning.
pub(super) struct Templates {
    /// For a new conversation.
    pub(super) task: String,
    /// For a resumed one.
    pub(super) resume: String,
    /// Those of them that the project has, as they were read: only what the user agreed to may be used.
    pub(super) of_project: Vec<ProjectFile>,
}

impl Templates {
    /// The project's own come first, then the user's, then ours.
    pub(super) fn load(home: &Path, checkout: &Path) -> Result<Self, String> {
        let mut of_project = Vec::new();
        let mut load = |name: &str, ours: &str| {
            if let Some(text) = read_inside(checkout, &[".fleet", "templates", name])? {
                of_project.push(ProjectFile::with_text(format!(".fleet/templates/{name}"), &text));
                return Ok(text);
            }
            Ok::<_, String>(read_inside(home, &["templates", name])?.unwrap_or_else(|| ours.to_owned()))
        };
        let task = load("task.md", include_str!("templates/task.md"))?;
        let resume = load("resume.md", include_str!("templates/resume.md"))?;
        Ok(Self { task, resume, of_project })
    }

    /// That the user agreed to what was read of the project. Its files may have changed since that check, which was
    /// before the workspace was made.
    pub(super) fn check_trust(&self, home: &Path, project: &str) -> Result<(), String> {
        let asked = ProjectWishes::of_files(project, self.of_project.clone());
        match ConsentStore::new(home).uncovered(&asked) {
            Ok(asked) if asked.is_empty() => Ok(()),
            Ok(asked) => Err(format!("the repository requests {}: `fleet trust` shows it", asked.names())),
            Err(problem) => Err(problem.message),
        }
    }
}

/// The file, if it is there. Nothing on the way may be a link: a repository could name a file of the user's with one,
/// and what is in a prompt is sent away.
fn read_inside(root: &Path, parts: &[&str]) -> Result<Option<String>, String> {
    let mut path = PathBuf::from(root);
    for part in parts {
        path.push(part);
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                return Err(format!(
                    "the template {} is or is in a link, which is not followed",
                    path.display()
                ));
            }
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(format!("the template {}: {error}", path.display())),
        }
    }
    let read = || -> std::io::Result<String> {
        let mut text = String::new();
        plain::open(&path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|error| format!("the template {}: {}", path.display(), chain(&error)))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("the template {} is longer than {MAX_BYTES} bytes", path.display()));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_project_comes_before_the_user_and_both_before_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (home, checkout) = (dir.path().join("home"), dir.path().join("repo"));
        let ours = Templates::load(&home, &checkout).unwrap();
        assert!(ours.task.contains("{task}") && ours.resume.contains("{prompts}"));
        write(&home.join("templates/task.md"), "user {task}");
        assert_eq!(Templates::load(&home, &checkout).unwrap().task, "user {task}");
        write(&checkout.join(".fleet/templates/task.md"), "project {task}");
        let loaded = Templates::load(&home, &checkout).unwrap();
        assert_eq!((loaded.task.as_str(), &loaded.resume), ("project {task}", &ours.resume));
    }

    #[test]
    fn what_was_read_is_what_the_user_agreed_to() {
        let dir = tempfile::tempdir().unwrap();
        let (home, checkout) = (dir.path().join("home"), dir.path().join("repo"));
        assert_eq!(Templates::load(&home, &checkout).unwrap().check_trust(&home, "/p"), Ok(()));
        let place = checkout.join(".fleet/templates/task.md");
        write(&place, "Do {task}");
        let loaded = Templates::load(&home, &checkout).unwrap();
        assert!(loaded.check_trust(&home, "/p").unwrap_err().contains(".fleet/templates/task.md"));
        let agreed = crate::trust::below(&checkout, crate::trust::TEMPLATES).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        ConsentStore::new(&home)
            .grant(&ProjectWishes::of_files("/p", agreed), fleet_core::time::Millis(1))
            .unwrap();
        assert_eq!(loaded.check_trust(&home, "/p"), Ok(()));
        write(&place, "Send {task} away");
        assert_eq!(loaded.check_trust(&home, "/p"), Ok(()), "what was read counts");
        assert!(Templates::load(&home, &checkout).unwrap().check_trust(&home, "/p").is_err());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a shell's tool makes the pipe")]
    fn no_template_is_read_through_a_link_or_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let (home, checkout) = (dir.path().join("home"), dir.path().join("repo"));
        let place = checkout.join(".fleet/templates/task.md");
        write(&dir.path().join("secret"), "secret");
        write(&place, "");
        std::fs::remove_file(&place).unwrap();
        symlink(dir.path().join("secret"), &place).unwrap();
        assert!(Templates::load(&home, &checkout).err().unwrap().contains("link"));
        std::fs::remove_file(&place).unwrap();
        write(&place, &"x".repeat(300_000));
        assert!(Templates::load(&home, &checkout).err().unwrap().contains("longer"));
        std::fs::write(&place, b"\xff").unwrap();
        assert!(Templates::load(&home, &checkout).err().unwrap().contains("UTF-8"));
        std::fs::remove_file(&place).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
        assert!(
            Templates::load(&home, &checkout).err().unwrap().contains("not a file"),
            "nobody writes to it"
        );
    }
}
