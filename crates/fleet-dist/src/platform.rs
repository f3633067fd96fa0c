//! What a binary runs on, read from the binary itself, so that no package is labelled for another platform.

/// An operating system and a kind of processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    system: System,
    processor: Processor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux(Libc),
    MacOs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Libc {
    /// The C library is in the binary.
    Static,
    /// At least version 2.`minor`.
    Glibc { minor: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Processor {
    X86,
    Arm,
}

impl Platform {
    /// The platform of a binary, if packages can be made for it.
    pub fn of(binary: &[u8]) -> Option<Self> {
        Self::of_elf(binary).or_else(|| Self::of_mach_o(binary))
    }

    fn of_elf(binary: &[u8]) -> Option<Self> {
        // 64 bits, little-endian.
        if !binary.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let processor = match number::<2>(binary, 18)? {
            0x3e => Processor::X86,
            0xb7 => Processor::Arm,
            _ => return None,
        };
        let libc = if has_interpreter(binary)? {
            Libc::Glibc { minor: newest_glibc(binary)? }
        } else {
            Libc::Static
        };
        Some(Self { system: System::Linux(libc), processor })
    }

    fn of_mach_o(binary: &[u8]) -> Option<Self> {
        if !binary.starts_with(b"\xcf\xfa\xed\xfe") {
            return None;
        }
        let processor = match number::<4>(binary, 4)? {
            0x0100_0007 => Processor::X86,
            0x0100_000c => Processor::Arm,
            _ => return None,
        };
        Some(Self { system: System::MacOs, processor })
    }

    /// As Rust names it.
    pub fn target(self) -> &'static str {
        match (self.system, self.processor) {
            (System::Linux(Libc::Static), Processor::X86) => "x86_64-unknown-linux-musl",
            (System::Linux(Libc::Static), Processor::Arm) => "aarch64-unknown-linux-musl",
            (System::Linux(Libc::Glibc { .. }), Processor::X86) => "x86_64-unknown-linux-gnu",
            (System::Linux(Libc::Glibc { .. }), Processor::Arm) => "aarch64-unknown-linux-gnu",
            (System::MacOs, Processor::X86) => "x86_64-apple-darwin",
            (System::MacOs, Processor::Arm) => "aarch64-apple-darwin",
        }
    }

    /// As wheels name it: all of them apply.
    pub(crate) fn wheel_tags(self) -> Vec<String> {
        let processor = match (self.system, self.processor) {
            (_, Processor::X86) => "x86_64",
            (System::Linux(_), Processor::Arm) => "aarch64",
            (System::MacOs, Processor::Arm) => "arm64",
        };
        let systems: &[&str] = match (self.system, self.processor) {
            (System::Linux(Libc::Glibc { minor }), _) => {
                return vec![format!("manylinux_2_{minor}_{processor}")];
            }
            (System::Linux(Libc::Static), _) => &["manylinux_2_17", "manylinux2014", "musllinux_1_1"],
            (System::MacOs, Processor::X86) => &["macosx_10_12"],
            (System::MacOs, Processor::Arm) => &["macosx_11_0"],
        };
        systems.iter().map(|system| format!("{system}_{processor}")).collect()
    }

    /// As Node names it: `process.platform` and `process.arch`.
    pub(crate) fn node(self) -> (&'static str, &'static str) {
        let system = match self.system {
            System::Linux(_) => "linux",
            System::MacOs => "darwin",
        };
        let processor = match self.processor {
            Processor::X86 => "x64",
            Processor::Arm => "arm64",
        };
        (system, processor)
    }

    /// As Debian names its processor; nothing for what Debian does not run.
    pub(crate) fn debian(self) -> Option<&'static str> {
        match (self.system, self.processor) {
            (System::MacOs, _) => None,
            (System::Linux(_), Processor::X86) => Some("amd64"),
            (System::Linux(_), Processor::Arm) => Some("arm64"),
        }
    }

    /// The oldest glibc, as in 2.`minor`, if it needs one.
    pub(crate) fn glibc(self) -> Option<u32> {
        match self.system {
            System::Linux(Libc::Glibc { minor }) => Some(minor),
            _ => None,
        }
    }
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(N)?)?;
    digits
        .iter()
        .rev()
        .try_fold(0_usize, |number, digit| Some(number.checked_mul(256)? | usize::from(*digit)))
}

/// Whether a dynamic linker starts it: it has a program header of the type for that.
fn has_interpreter(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: usize = 3;
    let (first, size, count) = (number::<8>(elf, 32)?, number::<2>(elf, 54)?, number::<2>(elf, 56)?);
    let mut kinds = (0..count).map(|index| number::<4>(elf, first + index * size));
    kinds.try_fold(false, |found, kind| Some(found || kind? == INTERPRETER))
}

/// The names of the versions that it needs are in its string table.
fn newest_glibc(elf: &[u8]) -> Option<u32> {
    let versions = elf.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"GLIBC_2."));
    let minor = |version: &[u8]| std::str::from_utf8(version).ok()?.split('.').next()?.parse().ok();
    versions.filter_map(minor).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of a program with one program header of this type, and some strings.
    fn elf(machine: u8, kind: u8, strings: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01".to_vec();
        bytes.resize(64, 0);
        bytes[18] = machine;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes.push(kind);
        bytes.resize(120, 0);
        bytes.extend(strings);
        bytes
    }

    fn mach_o(processor: u8) -> Vec<u8> {
        [b"\xcf\xfa\xed\xfe", [processor, 0, 0, 1].as_slice()].concat()
    }

    #[test]
    fn a_static_program_runs_on_every_linux() {
        let platform = Platform::of(&elf(0x3e, 1, b"")).unwrap();
        assert_eq!(platform.target(), "x86_64-unknown-linux-musl");
        let tags = ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"];
        assert_eq!(platform.wheel_tags(), tags);
        assert_eq!((platform.node(), platform.debian()), (("linux", "x64"), Some("amd64")));
        assert_eq!(platform.glibc(), None);
    }

    #[test]
    fn a_dynamic_program_needs_the_newest_version_that_it_names() {
        let strings = b"libc.so.6\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0";
        let platform = Platform::of(&elf(0xb7, 3, strings)).unwrap();
        assert_eq!(platform.target(), "aarch64-unknown-linux-gnu");
        assert_eq!(platform.wheel_tags(), ["manylinux_2_34_aarch64"]);
        assert_eq!((platform.node(), platform.debian()), (("linux", "arm64"), Some("arm64")));
        assert_eq!(platform.glibc(), Some(34));
    }

    #[test]
    fn a_mac_has_its_own_names() {
        let names = |processor| {
            let platform = Platform::of(&mach_o(processor)).unwrap();
            (platform.target(), platform.wheel_tags().join("."), platform.node())
        };
        assert_eq!(names(7), ("x86_64-apple-darwin", "macosx_10_12_x86_64".into(), ("darwin", "x64")));
        assert_eq!(names(12), ("aarch64-apple-darwin", "macosx_11_0_arm64".into(), ("darwin", "arm64")));
        assert_eq!(Platform::of(&mach_o(7)).unwrap().debian(), None);
    }

    #[test]
    fn other_files_are_not_programs() {
        let cut = elf(0x3e, 1, b"")[..40].to_vec();
        let other_libc = elf(0x3e, 3, b"libc.musl-x86_64.so.1\0");
        for bytes in [b"#!/bin/sh\n".to_vec(), Vec::new(), cut, elf(0x28, 1, b""), mach_o(1), other_libc] {
            assert_eq!(Platform::of(&bytes), None, "{bytes:?}");
        }
    }
}
