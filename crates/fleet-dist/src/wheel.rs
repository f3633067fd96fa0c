//! A wheel for Python's package installers, so that `uvx codefleet` and `pip install codefleet` work: the binary is a script
//! of the wheel.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::archive::{ArchiveEntry, zip};
use crate::release::DOCUMENTS;
use crate::{DESCRIPTION, NAMES, Package, Release, VERSION};

/// A wheel holds no links, and three copies of the binary would be three times as large.
const LAUNCHER: &str = include_str!("../../../packaging/wheel/launcher.py");

impl Release {
    /// A wheel.
    pub fn wheel(&self) -> io::Result<Package> {
        let version = version(VERSION);
        let (data, info) = (format!("codefleet-{version}.data"), format!("codefleet-{version}.dist-info"));
        let [file, links @ ..] = NAMES;
        let mut entries = vec![ArchiveEntry::program(format!("{data}/scripts/{file}"), &self.binary)];
        entries.extend(
            links.map(|name| ArchiveEntry::program(format!("{data}/scripts/{name}"), LAUNCHER.as_bytes())),
        );
        entries.extend(self.shared().into_iter().map(|entry| entry.inside(&format!("{data}/data"))));
        let licenses = DOCUMENTS.into_iter().filter(|(name, _)| name.starts_with("LICENSE"));
        entries.extend(
            licenses
                .map(|(name, text)| ArchiveEntry::file(format!("{info}/licenses/{name}"), text.as_bytes())),
        );
        let tags = self.platform().wheel_tags();
        entries.push(ArchiveEntry::file(format!("{info}/METADATA"), metadata(&version).into_bytes()));
        entries.push(ArchiveEntry::file(format!("{info}/WHEEL"), wheel_file(&tags).into_bytes()));
        let record = format!("{info}/RECORD");
        entries.push(ArchiveEntry::file(record.clone(), contents(&entries, &record).into_bytes()));
        let name = format!("codefleet-{version}-py3-none-{}.whl", tags.join("."));
        Ok(Package { name, bytes: zip(&entries, self.effort)? })
    }
}

fn metadata(version: &str) -> String {
    let [(_, readme), ..] = DOCUMENTS;
    format!(
        "Metadata-Version: 2.4\nName: codefleet\nVersion: {version}\nSummary: {DESCRIPTION}\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}"
    )
}

fn wheel_file(tags: &[String]) -> String {
    let header = format!("Wheel-Version: 1.0\nGenerator: codefleet ({VERSION})\nRoot-Is-Purelib: false\n");
    tags.iter().fold(header, |text, tag| text + "Tag: py3-none-" + tag + "\n")
}

/// The list of files with their checksums; it has none itself.
fn contents(entries: &[ArchiveEntry<'_>], record: &str) -> String {
    let line = |entry: &ArchiveEntry<'_>| {
        let bytes = entry.content.bytes();
        let checksum = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        format!("{},sha256={checksum},{}\n", entry.path, bytes.len())
    };
    entries.iter().map(line).collect::<String>() + record + ",,\n"
}

/// `1.0.0-rc.2` as Python writes it, `1.0.0rc2`.
fn version(version: &str) -> String {
    let Some((release, pre)) = version.split_once('-') else { return version.to_owned() };
    let pre = pre.replace("alpha", "a").replace("beta", "b").replace('.', "");
    format!("{release}{pre}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_as_python_does() {
        let cases = [("0.1.0", "0.1.0"), ("1.0.0-rc.2", "1.0.0rc2"), ("1.2.0-beta.1", "1.2.0b1")];
        for (ours, python) in cases {
            assert_eq!(version(ours), python);
        }
    }
}
