//! A formula for Homebrew, which installs the archives of a release.

use crate::{DESCRIPTION, Package, VERSION};

const TEMPLATE: &str = include_str!("../../../packaging/homebrew/codefleet.rb");

/// Where in the formula the archive of each platform belongs.
const PLATFORMS: [(&str, &str, &str); 4] = [
    ("aarch64-apple-darwin", "on_macos", "on_arm"),
    ("x86_64-apple-darwin", "on_macos", "on_intel"),
    ("aarch64-unknown-linux-musl", "on_linux", "on_arm"),
    ("x86_64-unknown-linux-musl", "on_linux", "on_intel"),
];

/// The formula for those of the packages that Homebrew can use, if there are any. `repository` is the address of the project, `downloads` that
/// of the folder with the packages.
pub fn formula(repository: &str, downloads: &str, packages: &[Package]) -> Option<String> {
    let sources: Vec<String> = PLATFORMS
        .into_iter()
        .filter_map(|(target, system, processor)| {
            let name = format!("codefleet-{VERSION}-{target}.tar.gz");
            let package = packages.iter().find(|package| package.name == name)?;
            let checksum = package.checksum();
            Some(format!(
                "  {system} do\n    {processor} do\n      url \"{downloads}/{name}\"\n      \
                 sha256 \"{checksum}\"\n    end\n  end"
            ))
        })
        .collect();
    if sources.is_empty() {
        return None;
    }
    let values = [
        ("{{description}}", DESCRIPTION),
        ("{{repository}}", repository),
        ("{{version}}", VERSION),
        ("{{sources}}", &sources.join("\n\n")),
    ];
    Some(values.into_iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(target: &str) -> Package {
        Package { name: format!("codefleet-{VERSION}-{target}.tar.gz"), bytes: b"abc".to_vec() }
    }

    fn formula_of(packages: &[Package]) -> Option<String> {
        formula("https://example.org/codefleet", "https://example.org/files", packages)
    }

    #[test]
    fn the_formula_names_the_archives_with_their_checksums() {
        let text =
            formula_of(&[archive("aarch64-apple-darwin"), archive("x86_64-unknown-linux-musl")]).unwrap();
        // The checksum of "abc" that every description of SHA-256 gives.
        let source = |target| {
            format!(
                "      url \"https://example.org/files/codefleet-{VERSION}-{target}.tar.gz\"\n      \
                 sha256 \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n    end\n  end\n"
            )
        };
        let mac = format!("  on_macos do\n    on_arm do\n{}", source("aarch64-apple-darwin"));
        let linux = format!("  on_linux do\n    on_intel do\n{}", source("x86_64-unknown-linux-musl"));
        let version = format!("  version \"{VERSION}\"\n");
        for part in [mac, linux, version, "  homepage \"https://example.org/codefleet\"\n".to_owned()] {
            assert!(text.contains(&part), "{part} is missing:\n{text}");
        }
        assert!(!text.contains("{{"), "{text}");
    }

    /// Homebrew on Linux has its own glibc, which may be an older one.
    #[test]
    fn without_static_archives_there_is_no_formula() {
        assert_eq!(formula_of(&[archive("x86_64-unknown-linux-gnu")]), None);
    }
}
