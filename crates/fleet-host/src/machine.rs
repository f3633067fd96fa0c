//! Which machine this is.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::kernel_file;

pub fn name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.split('.').next().filter(|name| !name.is_empty()).unwrap_or("localhost").to_owned()
}

/// Tells machines apart, and stays when a laptop gets another name from another network. Where the system has no
/// such number, the name has to do.
pub fn id() -> String {
    let known = ["/etc/machine-id", "/var/lib/dbus/machine-id"].iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        let id = text.trim().get(..12)?.to_owned();
        id.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(id)
    });
    known.unwrap_or_else(name)
}

/// The addresses of the network cards, where the system tells them from those that programs made up. Clones of a
/// machine share its number, but not these.
pub fn network_cards() -> BTreeSet<String> {
    let cards = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let is_made_up = |card: &Path| {
        let kind = || kernel_file::read_text(card.join("addr_assign_type"));
        !card.join("device").exists() || kind().is_ok_and(|kind| kind.trim() != "0")
    };
    let real = cards.map(|card| card.path()).filter(|card| !is_made_up(card));
    let addresses = real.filter_map(|card| kernel_file::read_text(card.join("address")).ok());
    addresses.map(|address| address.trim().to_owned()).filter(|address| !address.is_empty()).collect()
}

/// Whether this process may do everything, which some agents want to know before they start.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// How many agents can work side by side without waiting for each other.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many files, sockets included, this process may have open at a time.
pub fn most_open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}
