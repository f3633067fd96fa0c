//! Which files processes use, from `/proc`.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{Dir, Mode, OFlags, open, openat, readlinkat};
use rustix::io::Errno;

/// Calls `each` with every path that a process works in, runs from or has open, and the process. Processes of other users
/// cannot be looked at, and are passed over. Mapped files are not looked at: that takes as long as all the rest, and whoever
/// maps a file and closes it mostly runs it.
pub(in crate::process) fn used_paths(each: &mut dyn FnMut(i32, &[u8])) {
    let Ok(processes) = fs::read_dir("/proc") else { return };
    let mut room = Vec::new();
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // It may end while it is looked at, and then it uses nothing any more.
        let _ = paths_of(process.path().as_os_str().as_bytes(), &mut room, &mut |path| each(pid, path));
    }
}

/// The paths of one process. The first question decides: whoever may not ask it may not ask the others.
fn paths_of(process: &[u8], room: &mut Vec<u8>, each: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let process = open(process, folder, Mode::empty())?;
    each(target(&process, "cwd", room)?);
    each(target(&process, "root", room)?);
    each(target(&process, "exe", room)?);
    let descriptors = openat(&process, "fd", folder, Mode::empty())?;
    for entry in Dir::read_from(&descriptors)? {
        let entry = entry?;
        if let Ok(path) = target(&descriptors, entry.file_name(), room) {
            each(path);
        }
    }
    Ok(())
}

/// Where a link leads. It is not a path if it does not begin with a slash, as with sockets and pipes.
fn target<'a>(
    folder: &OwnedFd,
    name: impl rustix::path::Arg,
    room: &'a mut Vec<u8>,
) -> Result<&'a [u8], Errno> {
    let path = readlinkat(folder, name, std::mem::take(room))?;
    *room = path.into_bytes();
    Ok(room)
}
