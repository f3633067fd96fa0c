//! A package for Debian and Ubuntu: an `ar` archive of two compressed `tar` archives.

use std::io;

use crate::archive::{ArchiveEntry, ar, gz, tar_gz};
use crate::release::Completions;
use crate::{DESCRIPTION, Package, Release, VERSION};

const COPYRIGHT: &str = include_str!("../../../packaging/debian/copyright");

impl Release {
    /// A `.deb`, where Debian knows the platform.
    pub fn debian(&self) -> io::Result<Option<Package>> {
        let Some(architecture) = self.platform().debian() else { return Ok(None) };
        let entries = self.installed()?;
        let control = ArchiveEntry::file("control", self.control(architecture, &entries).into_bytes());
        let data = tar_gz(&entries, self.effort)?;
        let control = tar_gz(&[control], self.effort)?;
        let members =
            [("debian-binary", b"2.0\n".as_slice()), ("control.tar.gz", &control), ("data.tar.gz", &data)];
        let name = format!("codefleet_{}_{architecture}.deb", version());
        Ok(Some(Package { name, bytes: ar(&members) }))
    }

    /// Everything where Debian wants it, the manual compressed.
    fn installed(&self) -> io::Result<Vec<ArchiveEntry<'_>>> {
        let Completions { bash, zsh, fish } = &self.completions;
        let mut entries: Vec<_> = self.programs().into_iter().map(|entry| entry.inside("usr")).collect();
        for (name, page) in &self.manual {
            entries.push(ArchiveEntry::file(format!("usr/share/man/man1/{name}.gz"), gz(page, self.effort)?));
        }
        entries.extend([
            ArchiveEntry::file("usr/share/bash-completion/completions/fleet", bash),
            ArchiveEntry::file("usr/share/zsh/vendor-completions/_fleet", zsh),
            ArchiveEntry::file("usr/share/fish/vendor_completions.d/fleet.fish", fish),
            ArchiveEntry::file("usr/share/doc/codefleet/copyright", COPYRIGHT.as_bytes()),
        ]);
        Ok(entries)
    }

    fn control(&self, architecture: &str, entries: &[ArchiveEntry<'_>]) -> String {
        let size = entries.iter().map(|entry| entry.content.bytes().len()).sum::<usize>().div_ceil(1024);
        let glibc = self.platform().glibc().map(|minor| format!(", libc6 (>= 2.{minor}), libgcc-s1"));
        let depends = format!("git{}", glibc.unwrap_or_default());
        format!(
            "Package: codefleet\nVersion: {}\nArchitecture: {architecture}\nMaintainer: The codefleet authors\n\
             Installed-Size: {size}\nDepends: {depends}\nSection: devel\nPriority: optional\n\
             Description: {DESCRIPTION}\n \
             A durable queue of tasks for your repositories, and a coding agent on each of them, in its own\n \
             workspace and on its own branch. Installs `fleet`, also as `flt` and `codefleet`.\n",
            version()
        )
    }
}

/// A pre-release sorts before its release only behind a tilde.
fn version() -> String {
    VERSION.replace('-', "~")
}
