//! Ports of this machine, for the servers that agents start.
//!
//! Owns which process has which ports, among all that share a folder. Must never hold a port itself: the process that
//! leases it binds it.

use std::fs::{self, DirBuilder};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use crate::lock::Exclusive;

/// One process at a time searches for a block, which takes milliseconds; this is for a very slow machine.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// At most this many files of free blocks are kept for reuse.
const MAX_KEPT: usize = 16;

/// Ports that are lent until this is dropped or the process ends.
#[derive(Debug)]
pub struct PortBlock {
    pub first: u16,
    /// They are consecutive.
    pub count: u16,
    _lock: Exclusive,
}

impl PortBlock {
    pub fn ports(&self) -> RangeInclusive<u16> {
        self.first..=self.first + (self.count - 1)
    }
}

/// Lends `count` ports in a row out of `range`: no other process that uses the folder `dir` has one of them, and at
/// this moment nothing listens on them. `None` when there is no such block.
///
/// Each block has its own lock file, named after its ports, so that blocks of different sizes are distinguishable. Most
/// files of free blocks are removed here; that is safe because a process takes one only in its turn.
pub fn lease(dir: &Path, range: RangeInclusive<u16>, count: u16) -> io::Result<Option<PortBlock>> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let Some(_turn) = Exclusive::acquire(&dir.join("turn.lock"), TURN_TIMEOUT)? else {
        let why = format!("{} is locked by another process for too long", dir.join("turn.lock").display());
        return Err(io::Error::new(io::ErrorKind::TimedOut, why));
    };
    let (lent, free) = known_blocks(dir)?;
    let mut found = None;
    for ports in blocks(&range, count) {
        let is_lent = lent.iter().any(|other| overlap(other, &ports));
        if is_lent || !ports.clone().all(is_free) {
            continue;
        }
        if let Some(lock) = Exclusive::try_acquire(&dir.join(file_name(&ports)))? {
            found = Some(PortBlock { first: *ports.start(), count, _lock: lock });
            break;
        }
    }
    let is_taken = |ports: &RangeInclusive<u16>| found.as_ref().is_some_and(|block| block.ports() == *ports);
    for ports in free.iter().filter(|ports| !is_taken(ports)).skip(MAX_KEPT) {
        fs::remove_file(dir.join(file_name(ports)))?;
    }
    Ok(found)
}

fn file_name(ports: &RangeInclusive<u16>) -> String {
    format!("{}-{}.lock", ports.start(), ports.end())
}

/// The blocks of a range, from its beginning.
fn blocks(range: &RangeInclusive<u16>, count: u16) -> impl Iterator<Item = RangeInclusive<u16>> {
    let (first, last) = (u32::from(*range.start()), u32::from(*range.end()));
    // A block has at least one port, and so has a step.
    let size = u32::from(count);
    (first..=last).step_by(usize::from(count.max(1))).filter_map(move |start| {
        let end = (start + size).checked_sub(1).filter(|end| size > 0 && *end <= last)?;
        Some(u16::try_from(start).ok()?..=u16::try_from(end).ok()?)
    })
}

/// The blocks that processes hold, and those that they held.
type Blocks = (Vec<RangeInclusive<u16>>, Vec<RangeInclusive<u16>>);

fn known_blocks(dir: &Path) -> io::Result<Blocks> {
    let (mut lent, mut free) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Some(ports) = entry.file_name().to_str().and_then(named_block) else { continue };
        let is_lent = Exclusive::is_held(&entry.path())?;
        if is_lent { &mut lent } else { &mut free }.push(ports);
    }
    Ok((lent, free))
}

fn named_block(name: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = name.strip_suffix(".lock")?.split_once('-')?;
    let ports: RangeInclusive<u16> = first.parse().ok()?..=last.parse().ok()?;
    (file_name(&ports) == name).then_some(ports)
}

fn overlap(one: &RangeInclusive<u16>, other: &RangeInclusive<u16>) -> bool {
    one.start() <= other.end() && other.start() <= one.end()
}

/// Whether a server could be started on this port.
fn is_free(port: u16) -> bool {
    let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
    // Without IPv6 no process can listen there.
    let free_6 = !TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_err_and(|error| in_use(&error));
    let free_4 = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    // Outside Linux a process may bind an address while another listens on all addresses.
    free_4
        && free_6
        && (cfg!(target_os = "linux") || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(range: RangeInclusive<u16>, count: u16) -> Vec<RangeInclusive<u16>> {
        blocks(&range, count).collect()
    }

    #[test]
    fn blocks_lie_in_their_range() {
        assert_eq!(all(10..=19, 4), [10..=13, 14..=17]);
        assert_eq!(all(10..=10, 1), [10..=10]);
        assert_eq!(all(10..=12, 4), []);
        assert_eq!(all(65530..=65535, 3), [65530..=65532, 65533..=65535]);
        assert_eq!(all(1..=65535, u16::MAX), [1..=65535]);
        assert_eq!(all(10..=19, 0), []);
    }

    #[test]
    fn names_of_blocks() {
        assert_eq!(named_block("3000-3009.lock"), Some(3000..=3009));
        assert_eq!(named_block("turn.lock"), None);
        assert_eq!(named_block("03000-3009.lock"), None);
        assert_eq!(named_block("3000-70000.lock"), None);
    }
}
