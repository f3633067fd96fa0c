//! A git directory of ours beside the user's, made by hand.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, git, prepared};
use crate::support::text;
use fleet_host::git::Oid;

pub(crate) struct Vault {
    pub(crate) dir: PathBuf,
}

impl Vault {
    /// A bare repository that borrows the objects of `repo`.
    pub(crate) fn of(sandbox: &Sandbox, repo: &Path) -> Self {
        let dir = sandbox.path("home/vaults/main");
        let format = text(repo, &["rev-parse", "--show-object-format"]);
        let format = format!("--object-format={format}");
        git(&sandbox.folder("home"), &["init", "--quiet", "--bare", &format, dir.to_str().unwrap()]);
        let alternates = format!("{}\n", repo.join("objects").display());
        fs::create_dir_all(dir.join("objects/info")).unwrap();
        fs::write(dir.join("objects/info/alternates"), alternates).unwrap();
        if repo.join("shallow").exists() {
            fs::copy(repo.join("shallow"), dir.join("shallow")).unwrap();
        }
        Self { dir }
    }

    /// A commit on top of another one, with these files written.
    pub(crate) fn commit(&self, parent: &Oid, files: &[(&str, &str)]) -> Oid {
        let scratch = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| self.with_index(&scratch.path().join("index"), arguments);
        run(&["read-tree", parent.as_str()]);
        for (path, content) in files {
            let source = scratch.path().join("content");
            fs::write(&source, content).unwrap();
            let blob = run(&["hash-object", "-w", "--no-filters", source.to_str().unwrap()]);
            run(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
        }
        let tree = run(&["write-tree", "--missing-ok"]);
        Oid::parse(&run(&["commit-tree", &tree, "-p", parent.as_str(), "-m", "work"])).unwrap()
    }

    fn with_index(&self, index: &Path, arguments: &[&str]) -> String {
        let output = prepared(&self.dir, arguments).env("GIT_INDEX_FILE", index).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }
}
