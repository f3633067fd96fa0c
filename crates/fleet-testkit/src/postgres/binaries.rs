//! Where the programs of PostgreSQL are. Most systems keep the server's off `PATH`, one directory for each
//! version.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The programs that are needed, all from one directory: the versions of server and `initdb` must be the
/// same.
pub const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// Directories that hold one directory for each version, and what precedes the version in its name.
const VERSIONED: [(&str, &str); 4] = [
    ("/usr/lib/postgresql", ""),          // Debian, Ubuntu
    ("/usr", "pgsql-"),                   // packages of the PostgreSQL project for Fedora and its kin
    ("/opt/homebrew/opt", "postgresql@"), // Homebrew on Apple silicon
    ("/usr/local/opt", "postgresql@"),    // Homebrew on Intel
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    dir: PathBuf,
}

impl Binaries {
    /// From `PATH`, or else the newest version in the places where systems keep them.
    pub fn find() -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        Self::find_in(env::split_paths(&path), &VERSIONED)
    }

    fn find_in(path: impl Iterator<Item = PathBuf>, versioned: &[(impl AsRef<Path>, &str)]) -> Option<Self> {
        let installed = versioned.iter().flat_map(|(parent, prefix)| versions(parent.as_ref(), prefix));
        let newest = |dirs: Vec<(Vec<u32>, PathBuf)>| dirs.into_iter().max().map(|(_, dir)| dir);
        path.filter(|dir| dir.is_absolute())
            .find(|dir| complete(dir))
            .or_else(|| newest(installed.filter(|(_, dir)| complete(dir)).collect()))
            .map(|dir| Self { dir })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The path of one of the [`PROGRAMS`].
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

fn complete(dir: &Path) -> bool {
    PROGRAMS.iter().all(|program| dir.join(program).is_file())
}

/// The `bin` directories below `parent`, each with its version, which compares as numbers: 9.6 < 15.
fn versions(parent: &Path, prefix: &str) -> Vec<(Vec<u32>, PathBuf)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let version = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let numbers =
            name.to_str()?.strip_prefix(prefix)?.split('.').map(str::parse).collect::<Result<_, _>>();
        Some((numbers.ok()?, entry.path().join("bin")))
    };
    entries.filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(dir: &Path, programs: &[&str]) -> PathBuf {
        fs::create_dir_all(dir).unwrap();
        for program in programs {
            fs::write(dir.join(program), "").unwrap();
        }
        dir.to_owned()
    }

    fn find(path: &[&PathBuf], versioned: &[(&Path, &str)]) -> Option<PathBuf> {
        let path = path.iter().map(|dir| (*dir).clone());
        Binaries::find_in(path, versioned).map(|found| found.dir().to_owned())
    }

    #[test]
    fn the_newest_complete_version_is_taken() {
        let root = tempfile::tempdir().unwrap();
        install(&root.path().join("9.6/bin"), &PROGRAMS);
        let fifteen = install(&root.path().join("15/bin"), &PROGRAMS);
        install(&root.path().join("17/bin"), &["psql"]);
        install(&root.path().join("tools/bin"), &PROGRAMS);
        assert_eq!(find(&[], &[(root.path(), "")]), Some(fifteen));
    }

    #[test]
    fn path_goes_first_if_it_has_the_server() {
        let root = tempfile::tempdir().unwrap();
        let client_only = install(&root.path().join("client"), &["psql"]);
        let whole = install(&root.path().join("whole"), &PROGRAMS);
        let kept = install(&root.path().join("opt/postgresql@16/bin"), &PROGRAMS);
        let opt = root.path().join("opt");
        let versioned = [(opt.as_path(), "postgresql@")];
        assert_eq!(find(&[&client_only, &whole], &versioned), Some(whole));
        assert_eq!(find(&[&client_only], &versioned), Some(kept));
        assert_eq!(find(&[&client_only], &[]), None);
    }
}
