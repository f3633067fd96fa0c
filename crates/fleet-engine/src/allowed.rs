//! In which repositories agents may work.
//!
//! Owns what the setting `allowed_repos` means. A repository is where its git directory is, whatever leads there: a link, a
//! worktree or a `.git` file in an allowed folder does not make it allowed, and neither does a folder inside of it. Must
//! never start git: what is not allowed is not looked into.

use std::fs;
use std::path::Path;

use fleet_core::problem::{Code, Outcome, Problem};

use crate::Engine;
use crate::keeper::checkout_of;

/// Refuses the repository of the engine's directory, if agents may not work there.
pub(crate) fn check(engine: &Engine) -> Outcome<()> {
    let allowed = &engine.config()?.general().allowed_repos;
    if allowed.is_empty() {
        return Ok(());
    }
    // Canonical, as the common dir is.
    let root = checkout_of(&engine.repository()?.common_dir);
    let mut real = Vec::with_capacity(allowed.len());
    for folder in allowed {
        real.extend(fs::canonicalize(engine.environment().expanded(Path::new(folder))?).ok());
    }
    // By whole parts: `/code/shop2` is not in `/code/shop`.
    if real.iter().any(|folder| root.starts_with(folder)) {
        return Ok(());
    }
    let message =
        format!("agents may not work in {}: it is not in a folder of `allowed_repos`", root.display());
    Err(Problem::new(Code::RepositoryRefused, message)
        .hint(format!("allowed are {}", allowed.join(", ")))
        .hint("`fleet config get allowed_repos --show-origin` shows where it is set"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    fn verdict(directory: &Path, home: &Path, allowed: &str) -> Outcome<()> {
        let fleet = tempfile::tempdir().unwrap();
        let pairs = [
            ("FLEET_HOME", fleet.path().to_str().unwrap()),
            ("HOME", home.to_str().unwrap()),
            ("FLEET_ALLOWED_REPOS", allowed),
        ];
        let environment = Environment::from_pairs(pairs).with_current_directory(directory);
        check(&Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap())
    }

    #[test]
    fn a_repository_is_allowed_by_itself_or_by_a_folder_above() {
        let repo = Repo::init();
        let inner = repo.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let parent = repo.path().parent().unwrap();
        let allowed = |text: &str| verdict(&inner, parent, text).is_ok();
        let name = repo.path().file_name().unwrap().to_str().unwrap();
        assert!(allowed(""), "nothing said is everywhere");
        assert!(allowed(repo.path().to_str().unwrap()));
        assert!(allowed(&format!("/nowhere, {}/", parent.display())));
        assert!(allowed("~") && allowed(&format!("~/{name}")));
        assert!(!allowed(inner.to_str().unwrap()), "a part of it is not the whole");
        assert!(!allowed(&repo.path().to_str().unwrap()[..repo.path().to_str().unwrap().len() - 1]));
        assert!(!allowed("/nowhere"));
        let problem = verdict(&inner, parent, "/nowhere").unwrap_err();
        assert_eq!(problem.code, Code::RepositoryRefused);
        assert!(problem.hints[0].contains("/nowhere"), "{problem:?}");
    }

    #[test]
    fn what_leads_to_a_repository_does_not_make_it_allowed() {
        let (repo, good) = (Repo::init(), tempfile::tempdir().unwrap());
        repo.commit("first");
        let (link, tree, file) =
            (good.path().join("link"), good.path().join("tree"), good.path().join("file"));
        symlink(repo.path(), &link).unwrap();
        repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
        fs::create_dir(&file).unwrap();
        fs::write(file.join(".git"), format!("gitdir: {}\n", repo.path().join(".git").display())).unwrap();
        let allowed = good.path().to_str().unwrap();
        for way in [link, tree, file] {
            assert!(verdict(&way, good.path(), allowed).is_err(), "{}", way.display());
        }
        let linked = good.path().join("allowed");
        symlink(repo.path(), &linked).unwrap();
        assert!(verdict(repo.path(), good.path(), linked.to_str().unwrap()).is_ok(), "the real path counts");
    }

    #[test]
    fn a_path_that_depends_on_where_one_stands_is_refused() {
        let repo = Repo::init();
        for wrong in ["code", "./code", "../x", "~ada/code"] {
            let problem = verdict(repo.path(), repo.path(), wrong).unwrap_err();
            assert_eq!(problem.code, Code::ConfigInvalid, "{wrong}");
            assert!(problem.to_string().starts_with("FLEET_ALLOWED_REPOS: "), "{problem}");
        }
    }
}
