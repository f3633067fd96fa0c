//! Packages for npm, so that `npx codefleet` works: one for each platform, which carries the binary, and one that depends on
//! all of them and starts the one that npm installed.

use std::io;

use serde_json::{Map, Value, json};

use crate::archive::{ArchiveEntry, tar_gz};
use crate::release::DOCUMENTS;
use crate::{DESCRIPTION, NAMES, Package, Release, VERSION};

const LAUNCHER: &str = include_str!("../../../packaging/npm/launcher.js");

/// As Node names them, system and processor.
const PLATFORMS: [(&str, &str); 4] =
    [("darwin", "arm64"), ("darwin", "x64"), ("linux", "arm64"), ("linux", "x64")];

impl Release {
    /// The package with the binary for its platform.
    pub fn npm_program(&self) -> io::Result<Package> {
        let (system, processor) = self.platform().node();
        let name = name_for(system, processor);
        let mut manifest = manifest(&name, "bin/fleet");
        manifest.insert("os".to_owned(), json!([system]));
        manifest.insert("cpu".to_owned(), json!([processor]));
        if self.platform().glibc().is_some() {
            manifest.insert("libc".to_owned(), json!(["glibc"]));
        }
        let pages = self.manual.iter().map(|(page, _)| json!(format!("./share/man/man1/{page}")));
        manifest.insert("man".to_owned(), pages.collect());
        let program = ArchiveEntry::program("bin/fleet", &self.binary);
        self.npm(&name, manifest, std::iter::once(program).chain(self.shared()))
    }

    /// The package that starts the binary of another one: the same on every platform.
    pub fn npm_launcher(&self) -> io::Result<Package> {
        let mut manifest = manifest("codefleet", "bin/launcher.js");
        let all = PLATFORMS.map(|(system, processor)| (name_for(system, processor), json!(VERSION)));
        manifest.insert("optionalDependencies".to_owned(), Value::Object(all.into_iter().collect()));
        self.npm("codefleet", manifest, [ArchiveEntry::program("bin/launcher.js", LAUNCHER.as_bytes())])
    }

    fn npm<'a>(
        &self,
        name: &str,
        manifest: Map<String, Value>,
        files: impl IntoIterator<Item = ArchiveEntry<'a>>,
    ) -> io::Result<Package> {
        let manifest = format!("{:#}\n", Value::Object(manifest)).into_bytes();
        let documents = DOCUMENTS.map(|(name, text)| ArchiveEntry::file(name, text.as_bytes()));
        let entries =
            [ArchiveEntry::file("package.json", manifest)].into_iter().chain(documents).chain(files);
        let entries: Vec<_> = entries.map(|entry| entry.inside("package")).collect();
        Ok(Package { name: format!("{name}-{VERSION}.tgz"), bytes: tar_gz(&entries, self.effort)? })
    }
}

fn name_for(system: &str, processor: &str) -> String {
    format!("codefleet-{system}-{processor}")
}

/// What every package says, with all names for one file.
fn manifest(name: &str, program: &str) -> Map<String, Value> {
    let programs: Map<String, Value> =
        NAMES.map(|name| (name.to_owned(), json!(program))).into_iter().collect();
    let fields = [
        ("name", json!(name)),
        ("version", json!(VERSION)),
        ("description", json!(DESCRIPTION)),
        ("license", json!("MIT OR Apache-2.0")),
        ("bin", Value::Object(programs)),
        ("engines", json!({ "node": ">=18" })),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
