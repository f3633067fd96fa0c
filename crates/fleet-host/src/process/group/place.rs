//! Where the control group of this process is.

use std::path::{Path, PathBuf};

use crate::kernel_file;

/// The folder of the group that this process is in. `None` where there are no control groups of version 2.
pub(super) fn own() -> Option<PathBuf> {
    let mounts = kernel_file::read_text("/proc/self/mountinfo").ok()?;
    find(&own_path()?, &mounts)
}

/// The path of that group in the tree of groups, wherever that is mounted.
pub(super) fn own_path() -> Option<String> {
    path_in(&kernel_file::read_text("/proc/self/cgroup").ok()?).map(ToOwned::to_owned)
}

/// The same for another process.
pub(super) fn path_of(pid: i32) -> Option<String> {
    path_in(&kernel_file::read_text(format!("/proc/{pid}/cgroup")).ok()?).map(ToOwned::to_owned)
}

fn path_in(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| line.strip_prefix("0::"))
}

/// Puts together which group it is and where the tree of groups is mounted. There may be mounts of both versions,
/// and the mount may be of a part of the tree only, as in a container.
fn find(group: &str, mounts: &str) -> Option<PathBuf> {
    let group = Path::new(group);
    // Outside of what this process may see.
    if group.components().any(|part| part == std::path::Component::ParentDir) {
        return None;
    }
    mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        kind.split(' ').next().filter(|kind| *kind == "cgroup2")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, mount_point) = (unescape(fields.next()?), unescape(fields.next()?));
        let below = group.strip_prefix(root).ok()?;
        Some(Path::new(&mount_point).join(below))
    })
}

/// Spaces and a few more are octal numbers there.
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(field.to_owned(), |text, (code, sign)| text.replace(code, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(groups: &str, mounts: &str) -> Option<String> {
        find(path_in(groups)?, mounts).map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn one_tree_of_version_2() {
        let groups = "0::/user.slice/user-1000.slice/app.slice/x.scope\n";
        let mounts = "23 1 0:20 / /proc rw - proc proc rw\n\
            30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let expected = "/sys/fs/cgroup/user.slice/user-1000.slice/app.slice/x.scope";
        assert_eq!(found(groups, mounts).as_deref(), Some(expected));
    }

    #[test]
    fn both_versions() {
        let groups = "8:pids:/a\n1:name=systemd:/b\n0::/c\n";
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
            39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found(groups, mounts).as_deref(), Some("/sys/fs/cgroup/unified/c"));
    }

    #[test]
    fn part_of_the_tree() {
        let mounts = "30 24 0:26 /docker/7 /sys/fs/c\\040group rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found("0::/docker/7/x\n", mounts).as_deref(), Some("/sys/fs/c group/x"));
        assert_eq!(found("0::/elsewhere\n", mounts), None);
        assert_eq!(found("0::/../outside\n", mounts), None);
    }

    #[test]
    fn no_version_2() {
        assert_eq!(found("1:name=systemd:/\n", "39 31 0:36 / /x rw - cgroup cgroup rw,pids\n"), None);
        assert_eq!(found("0::/\n", "39 31 0:36 / /x rw - cgroup cgroup rw,pids\n"), None);
    }
}
