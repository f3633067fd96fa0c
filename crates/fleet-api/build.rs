//! Lists the verbs: every file in `src/verbs` is one, so that a new verb needs no entry in a list.

#![expect(clippy::disallowed_methods, reason = "Cargo tells a build script where things are by variables")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/verbs");
    let variable = |name| env::var(name).map(PathBuf::from).map_err(io::Error::other);
    let folder = variable("CARGO_MANIFEST_DIR")?.join("src/verbs");
    let out = variable("OUT_DIR")?;
    let names = names(&folder)?;
    fs::write(out.join("modules.rs"), modules(&folder, &names))?;
    let list = format!(
        "/// Calls a macro with the names of all verbs, which are those of their modules.\n\
         #[macro_export]\nmacro_rules! for_each_verb {{\n    ($callback:ident) => {{ $callback! {{ {} }} }};\n}}\n",
        names.join(", ")
    );
    fs::write(out.join("list.rs"), list)
}

/// The names of all verbs, in the order of the alphabet.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        let name = file.file_stem().and_then(|name| name.to_str()).map(ToOwned::to_owned);
        names.extend(name.filter(|_| file.extension().is_some_and(|extension| extension == "rs")));
    }
    names.sort();
    Ok(names)
}

fn modules(folder: &Path, names: &[String]) -> String {
    let mut modules = String::new();
    for name in names {
        let path = folder.join(format!("{name}.rs")).display().to_string();
        let id = name.replace('_', ".");
        let _ = writeln!(modules, "/// `{id}`\n#[path = {path:?}]\npub mod {name};");
    }
    modules
}
