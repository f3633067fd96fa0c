//! Which files processes use, from `/proc`.

use std::os::fd::AsFd;

use rustix::fs::{CWD, Dir, Mode, OFlags, open, openat, readlinkat};
use rustix::io::Errno;

/// Calls `each` with every path that a process works in, runs from or has open, and the process. Processes of other
/// users cannot be read and are skipped. Mapped files are ignored: reading them takes as long as all the rest, and a
/// process that maps a file and closes it mostly runs it.
pub(in crate::process) fn used_paths(each: &mut dyn FnMut(i32, &[u8])) {
    let mut room = Vec::new();
    for pid in super::procfs::pids() {
        // It may end while it is looked at, and then it uses nothing any more.
        let _ = paths_of(pid, &mut room, &mut |path| each(pid, path));
    }
}

/// The paths of one process. The first query decides: if it is not allowed, neither are the others, and the kernel's own
/// processes run from no file.
fn paths_of(pid: i32, room: &mut Vec<u8>, each: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    each(target(CWD, format!("/proc/{pid}/exe"), room)?);
    let process = open(format!("/proc/{pid}"), folder, Mode::empty())?;
    each(target(&process, "cwd", room)?);
    each(target(&process, "root", room)?);
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
fn target(folder: impl AsFd, name: impl rustix::path::Arg, room: &mut Vec<u8>) -> Result<&[u8], Errno> {
    let path = readlinkat(folder, name, std::mem::take(room))?;
    *room = path.into_bytes();
    Ok(room)
}
