//! `cargo xtask dist`: the packages of a release, as files to be published; `formula` and `release-notes` for what
//! belongs to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fleet_dist::{Effort, Package, Release, VERSION};

use crate::failure::Failure;
use crate::process;
use crate::step::Step;

const PROFILE: &str = "packaged";
const CHECKSUMS: &str = "SHA256SUMS";

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    target: Option<String>,
    binary: Option<PathBuf>,
}

/// Builds, unless a binary is given, and writes every package for its platform.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let options = Options::parse(arguments)?;
    let binary = match options.binary {
        Some(binary) => binary,
        None => match build(options.target.as_deref())? {
            Some(binary) => binary,
            None => return Ok(ExitCode::FAILURE),
        },
    };
    let step = Step::begin("packages");
    let release = Release::of(&binary, Effort::Small)?;
    let packages = release.packages().map_err(fleet_dist::DistError::from)?;
    let folder = folder();
    write(&packages, &folder).map_err(|source| Failure::Folder { path: folder.clone(), source })?;
    for package in &packages {
        println!("{} {:.1} MB", folder.join(&package.name).display(), megabytes(package));
    }
    step.end(release.platform().target());
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| Failure::Usage(format!("`{name}` takes a value")));
            match name.as_str() {
                "--target" => options.target = Some(value()?.clone()),
                "--binary" => options.binary = Some(value()?.into()),
                _ => return Err(Failure::Usage(format!("`dist` takes no argument `{name}`"))),
            }
        }
        if options.target.is_some() && options.binary.is_some() {
            return Err(Failure::Usage("a binary has been built for its target already".into()));
        }
        Ok(options)
    }
}

/// Where the binary is; nothing if it does not build.
fn build(target: Option<&str>) -> Result<Option<PathBuf>, Failure> {
    let step = Step::begin("build");
    let mut cargo = process::cargo();
    cargo.args(["build", "--profile", PROFILE, "--locked", "--package", "codefleet"]);
    let mut folder = process::target_directory();
    if let Some(target) = target {
        cargo.args(["--target", target]);
        folder.push(target);
        if target.ends_with("-musl") {
            // The usual name of its C compiler; the one that Rust expects has the target in its name.
            let variable = format!("CC_{}", target.replace('-', "_"));
            cargo.env(&variable, std::env::var_os(&variable).unwrap_or_else(|| "musl-gcc".into()));
        }
    }
    let built = process::run(&mut cargo)?;
    step.end(if built { "done" } else { "failed" });
    Ok(built.then(|| folder.join(PROFILE).join("fleet")))
}

fn folder() -> PathBuf {
    process::target_directory().join("dist")
}

/// Beside those for other platforms, with one list of all checksums.
fn write(packages: &[Package], folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for package in packages {
        package.write_into(folder)?;
    }
    let lines =
        read(folder)?.into_iter().map(|package| format!("{}  {}\n", package.checksum(), package.name));
    fs::write(folder.join(CHECKSUMS), lines.collect::<String>())
}

/// All packages in a folder, by their names.
fn read(folder: &Path) -> std::io::Result<Vec<Package>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let extension = path.extension().unwrap_or_default();
        if name.contains(VERSION) && ["gz", "deb", "tgz", "whl"].iter().any(|kind| extension == *kind) {
            packages.push(Package { bytes: fs::read(&path)?, name });
        }
    }
    packages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(packages)
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn megabytes(package: &Package) -> f64 {
    package.bytes.len() as f64 / 1e6
}

/// Prints a formula for the packages that `run` wrote.
pub(crate) fn formula(arguments: &[String]) -> Result<ExitCode, Failure> {
    let [repository] = arguments else {
        return Err(Failure::Usage("`formula` takes the address of the repository".into()));
    };
    let folder = folder();
    let packages = read(&folder).map_err(|source| Failure::Folder { path: folder, source })?;
    let repository = repository.trim_end_matches('/');
    let downloads = format!("{repository}/releases/download/v{VERSION}");
    let formula = fleet_dist::formula(repository, &downloads, &packages).ok_or_else(|| {
        Failure::Usage(
            "there is no archive for macOS or static one for Linux; `cargo xtask dist` makes it".into(),
        )
    })?;
    print!("{formula}");
    Ok(ExitCode::SUCCESS)
}

/// Prints what the changelog says about a version, this one unless another is named.
pub(crate) fn notes(arguments: &[String]) -> Result<ExitCode, Failure> {
    let version = match arguments {
        [] => VERSION,
        [version] => version.trim_start_matches('v'),
        _ => return Err(Failure::Usage("`release-notes` takes one version at most".into())),
    };
    let path = process::root().join("CHANGELOG.md");
    let changelog = fs::read_to_string(&path).map_err(|source| Failure::Folder { path, source })?;
    let Some(notes) = fleet_dist::notes(&changelog, version) else {
        return Err(Failure::Usage(format!("CHANGELOG.md has no section `## {version}` with text")));
    };
    println!("{notes}");
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Failure> {
        Options::parse(&line.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_understood_or_refused() {
        assert_eq!(parse("").unwrap(), Options::default());
        let target = Some("x86_64-unknown-linux-musl".to_owned());
        assert_eq!(
            parse("--target x86_64-unknown-linux-musl").unwrap(),
            Options { target, ..Options::default() }
        );
        for line in ["--target", "--binary", "--fast", "fleet", "--target a --binary b"] {
            assert!(matches!(parse(line), Err(Failure::Usage(_))), "{line}");
        }
    }

    #[test]
    fn one_list_has_the_checksums_of_all_packages() {
        let dir = tempfile::tempdir().unwrap();
        let package = |name: &str| Package { name: format!("{name}-{VERSION}.tgz"), bytes: b"abc".to_vec() };
        write(&[package("b")], dir.path()).unwrap();
        write(&[package("a")], dir.path()).unwrap();
        let list = fs::read_to_string(dir.path().join(CHECKSUMS)).unwrap();
        let names: Vec<_> = list.lines().map(|line| line.split_once("  ").unwrap().1).collect();
        assert_eq!(names, [format!("a-{VERSION}.tgz"), format!("b-{VERSION}.tgz")]);
    }

    #[test]
    fn notes_are_for_versions_that_have_a_section() {
        assert!(matches!(notes(&["9.9.9".to_owned()]), Err(Failure::Usage(_))));
        assert!(notes(&["Unreleased".to_owned()]).is_ok());
    }

    /// Cargo wants the version beside each path that it may publish.
    #[test]
    fn every_crate_has_the_version_of_the_workspace() {
        let manifest = fs::read_to_string(process::root().join("Cargo.toml")).unwrap();
        let ours = manifest.lines().filter(|line| line.contains("path = \"crates/"));
        let versions: Vec<_> =
            ours.filter_map(|line| line.split_once("version = ")).map(|(_, after)| after).collect();
        assert!(!versions.is_empty());
        for version in versions {
            assert!(version.starts_with(&format!("\"{VERSION}\"")), "{version}");
        }
    }
}
