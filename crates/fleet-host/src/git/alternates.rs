//! Folders of objects to borrow from, as git reads them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// The content of `objects/info/alternates`.
pub(super) fn file(folders: &[&Path]) -> Vec<u8> {
    let mut lines = Vec::new();
    for folder in folders {
        let bytes = folder.as_os_str().as_bytes();
        // Only where it has to be: other programs that read the file do not know quotes.
        if bytes.contains(&b'\n') {
            lines.extend_from_slice(quoted(folder).as_bytes());
        } else {
            lines.extend_from_slice(bytes);
        }
        lines.push(b'\n');
    }
    lines
}

/// The value of `GIT_ALTERNATE_OBJECT_DIRECTORIES`, of folders in quotes.
pub(super) fn variable(quoted: &[OsString]) -> OsString {
    quoted.join(OsStr::new(":"))
}

/// A path in quotes, so that neither a colon nor a line break ends it.
pub(super) fn quoted(path: &Path) -> OsString {
    let mut text = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(*b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_quoted() {
        let folders = ["/plain: \"x", "/two\nlines"].map(Path::new);
        assert_eq!(file(&folders), b"/plain: \"x\n\"/two\\nlines\"\n");
        assert_eq!(variable(&folders.map(quoted)), OsStr::new("\"/plain: \\\"x\":\"/two\\nlines\""));
    }
}
