//! How this program came here, and how a newer one does. Pure.

use std::path::{Path, PathBuf};

use fleet_api::verbs::update::InstalledBy;

/// The name of the package everywhere.
const PACKAGE: &str = "codefleet";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Installation {
    pub(super) by: InstalledBy,
    /// What it belongs to: the clone, or the environment of Python.
    folder: PathBuf,
}

/// What is asked about the files around the program.
pub(super) struct Around<'a> {
    pub(super) exists: &'a dyn Fn(&Path) -> bool,
    /// The list that cargo keeps of what it installed, if the program is in one of its folders.
    pub(super) cargo_list: &'a str,
}

/// By the path of the program, with links resolved.
pub(super) fn detect(program: &Path, around: &Around<'_>) -> Installation {
    let has = |names: &[&str]| {
        program.components().any(|part| part.as_os_str().to_str().is_some_and(|part| names.contains(&part)))
    };
    let text = program.to_string_lossy();
    let of = |by| Installation { by, folder: program.parent().unwrap_or(program).to_owned() };
    let ancestor =
        |file: &str| program.ancestors().skip(1).find(|folder| (around.exists)(&folder.join(file)));
    if has(&["node_modules"]) {
        return of(InstalledBy::Npm);
    }
    if has(&["Cellar", "homebrew", ".linuxbrew"]) {
        return of(InstalledBy::Brew);
    }
    if text.contains("/pipx/venvs/") {
        return of(InstalledBy::Pipx);
    }
    if text.contains("/uv/tools/") {
        return of(InstalledBy::Uv);
    }
    if let Some(environment) = ancestor("pyvenv.cfg") {
        return Installation { by: InstalledBy::Pip, folder: environment.to_owned() };
    }
    if let Some(entry) = around.cargo_list.lines().find(|line| line.contains(&format!("\"{PACKAGE} "))) {
        return match entry.split_once("(path+file://").and_then(|(_, rest)| rest.split_once([')', '#'])) {
            Some((folder, _)) => Installation { by: InstalledBy::Source, folder: folder.into() },
            None => of(InstalledBy::Cargo),
        };
    }
    if let Some(target) = program.ancestors().find(|folder| folder.ends_with("target"))
        && let Some(clone) = target.parent().filter(|clone| (around.exists)(&clone.join("Cargo.toml")))
    {
        return Installation { by: InstalledBy::Source, folder: clone.to_owned() };
    }
    if (around.exists)(Path::new("/var/lib/dpkg/info/codefleet.list")) && program.starts_with("/usr/bin") {
        return of(InstalledBy::Apt);
    }
    of(InstalledBy::Archive)
}

impl Installation {
    /// What installs exactly this version: a package of the same name by others has other versions.
    pub(super) fn command(&self, version: &str) -> Vec<String> {
        let (exactly, of_npm) = (format!("{PACKAGE}=={version}"), format!("{PACKAGE}@{version}"));
        let python = self.folder.join("bin/python").to_string_lossy().into_owned();
        let line: &[&str] = match self.by {
            InstalledBy::Cargo => &["cargo", "install", PACKAGE, "--locked", "--version", version],
            InstalledBy::Npm => &["npm", "install", "--global", &of_npm],
            InstalledBy::Brew => &["brew", "upgrade", PACKAGE],
            InstalledBy::Pip => &[&python, "-I", "-m", "pip", "install", "--upgrade", &exactly],
            InstalledBy::Pipx => &["pipx", "install", "--force", &exactly],
            InstalledBy::Uv => &["uv", "tool", "install", "--force", &exactly],
            InstalledBy::Apt | InstalledBy::Source | InstalledBy::Archive => &[],
        };
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    /// What only a person should do.
    pub(super) fn advice(&self) -> Vec<String> {
        match self.by {
            InstalledBy::Source => {
                vec![format!("in {}: `git pull`, then `cargo xtask install`", self.folder.display())]
            }
            InstalledBy::Apt => {
                vec!["download the Debian package, then `sudo apt install ./FILE`".to_owned()]
            }
            InstalledBy::Archive => vec!["download the archive, and unpack it over the old files".to_owned()],
            _ => Vec::new(),
        }
    }
}

/// Whether a version is later than another: numbers are compared as numbers, and a release comes after its candidates.
pub(super) fn is_newer(than: &str, version: &str) -> bool {
    key(version) > key(than)
}

fn key(version: &str) -> (Vec<u64>, bool, String) {
    let version = version.trim().trim_start_matches(['v', 'V']);
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, candidate) = version.split_once('-').unwrap_or((version, ""));
    let numbers = numbers.split('.').map(|number| number.parse().unwrap_or(0)).collect();
    (numbers, candidate.is_empty(), candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(program: &str, files: &[&str], cargo_list: &str) -> Installation {
        let exists = |path: &Path| files.contains(&path.to_str().unwrap());
        detect(Path::new(program), &Around { exists: &exists, cargo_list })
    }

    #[test]
    fn an_installation_is_known_by_where_it_is() {
        let registry =
            "\"codefleet 0.1.0 (registry+https://github.com/rust-lang/crates.io-index)\" = [\"fleet\"]";
        let path = "\"codefleet 0.1.0 (path+file:///src/codefleet/crates/fleet)\" = [\"fleet\"]";
        for (program, files, list, by, first) in [
            ("/usr/lib/node_modules/codefleet/bin/fleet", &[][..], "", InstalledBy::Npm, "npm"),
            ("/opt/homebrew/Cellar/codefleet/0.1.0/bin/fleet", &[], "", InstalledBy::Brew, "brew"),
            ("/home/a/.local/share/pipx/venvs/codefleet/bin/fleet", &[], "", InstalledBy::Pipx, "pipx"),
            ("/home/a/.local/share/uv/tools/codefleet/bin/fleet", &[], "", InstalledBy::Uv, "uv"),
            (
                "/home/a/env/bin/fleet",
                &["/home/a/env/pyvenv.cfg"],
                "",
                InstalledBy::Pip,
                "/home/a/env/bin/python",
            ),
            ("/home/a/.cargo/bin/fleet", &[], registry, InstalledBy::Cargo, "cargo"),
            ("/home/a/.cargo/bin/fleet", &[], path, InstalledBy::Source, ""),
            ("/src/x/target/release/fleet", &["/src/x/Cargo.toml"], "", InstalledBy::Source, ""),
            ("/usr/bin/fleet", &["/var/lib/dpkg/info/codefleet.list"], "", InstalledBy::Apt, ""),
            ("/home/a/.local/bin/fleet", &[], "\"other 1.0.0 (x)\" = []", InstalledBy::Archive, ""),
        ] {
            let found = installed(program, files, list);
            assert_eq!(found.by, by, "{program}");
            let command = found.command("9.9.9");
            assert_eq!(command.first().map_or("", String::as_str), first, "{program}");
            assert_eq!(command.is_empty(), !found.advice().is_empty(), "one of the two: {program}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        for (older, newer) in
            [("0.1.0", "0.1.1"), ("0.9.0", "v0.10.0"), ("1.0.0-rc.1", "1.0.0"), ("0.1.0+abc", "0.2.0")]
        {
            assert!(is_newer(older, newer) && !is_newer(newer, older), "{older} {newer}");
        }
        assert!(!is_newer("0.1.0", "v0.1.0") && !is_newer("0.1.0", "rubbish"));
    }
}
