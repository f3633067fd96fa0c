//! `cargo xtask install`: `fleet` where cargo installs programs, with its other names beside it.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::failure::Failure;
use crate::process;

const NAME: &str = "fleet";
/// The short one, and that of the package, under which MCP clients start it.
const OTHER_NAMES: [&str; 2] = ["flt", "codefleet"];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let root = match arguments {
        [] => usual_root()?,
        [root] => env::current_dir().unwrap_or_default().join(root),
        _ => return Err(Failure::Usage("install takes one folder at most".into())),
    };
    let mut install = process::cargo();
    install.args(["install", "--path", "crates/fleet", "--locked", "--root"]).arg(&root);
    if !process::run(&mut install)? {
        return Ok(ExitCode::FAILURE);
    }
    for name in OTHER_NAMES {
        let link = root.join("bin").join(name);
        set_link(&link).map_err(|source| Failure::Link { path: link.clone(), source })?;
        println!("{} is a link to {NAME}", link.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Where cargo installs, unless its configuration file says otherwise.
fn usual_root() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || env::home_dir().map(|home| home.join(".cargo"));
    let root = set("CARGO_INSTALL_ROOT").or_else(|| set("CARGO_HOME")).or_else(home);
    root.ok_or_else(|| Failure::Usage("there is no home directory: name a folder to install to".into()))
}

/// Only a link is replaced: a file of that name is somebody else's.
fn set_link(link: &Path) -> io::Result<()> {
    if fs::symlink_metadata(link).is_ok_and(|found| found.is_symlink()) {
        fs::remove_file(link)?;
    }
    symlink(NAME, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_replaced_and_a_file_is_not() {
        let folder = env::temp_dir().join(format!("xtask-install-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let link = folder.join("flt");
        symlink("elsewhere", &link).unwrap();
        set_link(&link).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(NAME));
        fs::remove_file(&link).unwrap();
        fs::write(&link, "of somebody else").unwrap();
        assert!(set_link(&link).is_err());
        assert_eq!(fs::read(&link).unwrap(), b"of somebody else");
        fs::remove_dir_all(folder).unwrap();
    }
}
