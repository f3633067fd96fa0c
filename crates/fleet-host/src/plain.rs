//! Reads files that others may replace by something else.
//!
//! Owns that a read ends: an agent that works as the same user can replace any file by a pipe, and opening a pipe waits
//! for a writer that never comes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The flag with which opening a pipe does not block. It has no effect on files.
pub(crate) const NO_WAIT: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// Opens a file; an error if it is anything but a file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} is not a file", path.display())))
}

/// The content of a file; an error if it is anything but a file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.read_to_end(&mut content)?;
    Ok(content)
}

/// The same as text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut content = String::new();
    open(path)?.read_to_string(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn nobody_waits_for_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let (file, pipe) = (dir.path().join("file"), dir.path().join("pipe"));
        fs::write(&file, "text").unwrap();
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        assert_eq!(read_text(&file).unwrap(), "text");
        assert_eq!(read(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(open(dir.path()).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
