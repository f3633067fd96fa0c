//! Where the sockets of a run are.
//!
//! In the run's own folder; where that has too long a path for a socket, or is on a disk that has none, in a short folder
//! of the user's.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use fleet_core::id::RunId;
use rustix::process::geteuid;

use crate::home::Home;

/// The longest path of a socket, in bytes: 108 with a zero at the end on Linux, 104 on macOS.
const LONGEST_PATH: usize = 103;

/// Only the user may connect. Linux heeds it; elsewhere the folder is what keeps others out.
const PRIVATE: u32 = 0o600;

/// The sockets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunSocket {
    /// Through which its agent asks its keeper.
    Door,
    /// Through which people look at the terminal of its agent.
    Terminal,
}

impl RunSocket {
    const ALL: [Self; 2] = [Self::Door, Self::Terminal];

    /// Where it may be, the best place first.
    fn places(self, home: &Home, run: RunId) -> [PathBuf; 2] {
        match self {
            Self::Door => [home.run(run).door(), short_folder().join(run.to_string())],
            Self::Terminal => [home.run(run).terminal(), short_folder().join(format!("{run}.t"))],
        }
    }
}

fn short_folder() -> PathBuf {
    PathBuf::from(format!("/tmp/fleet-{}", geteuid().as_raw()))
}

pub(crate) fn listen(home: &Home, run: RunId, socket: RunSocket) -> io::Result<(UnixListener, PathBuf)> {
    remove_one(home, run, socket);
    let [own, short] = socket.places(home, run);
    let listener = listen_at(&own).map(|listener| (listener, own));
    listener.or_else(|_| {
        make_short_folder(&short_folder())?;
        Ok((listen_at(&short)?, short))
    })
}

/// The socket has its name only when it listens: whoever finds it can connect.
fn listen_at(path: &Path) -> io::Result<UnixListener> {
    let new = path.with_extension("n");
    if new.as_os_str().len() > LONGEST_PATH {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let _ = fs::remove_file(&new);
    let listener = UnixListener::bind(&new)?;
    fs::set_permissions(&new, fs::Permissions::from_mode(PRIVATE))?;
    listener.set_nonblocking(true)?;
    fs::rename(&new, path)?;
    Ok(listener)
}

/// Others can write to `/tmp`: what they made there under our name is not used.
fn make_short_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = folder.symlink_metadata()?;
    let is_ours = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode().trailing_zeros() >= 6;
    if is_ours { Ok(()) } else { Err(io::Error::other(format!("{} is not ours", folder.display()))) }
}

pub(crate) fn find(home: &Home, run: RunId, socket: RunSocket) -> Option<PathBuf> {
    socket.places(home, run).into_iter().find(|path| is_socket(path))
}

/// Removes what a keeper left.
pub(crate) fn remove(home: &Home, run: RunId) {
    for socket in RunSocket::ALL {
        remove_one(home, run, socket);
    }
}

fn remove_one(home: &Home, run: RunId, socket: RunSocket) {
    for path in socket.places(home, run).iter().filter(|path| is_socket(path)) {
        let _ = fs::remove_file(path);
    }
}

fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket())
}
