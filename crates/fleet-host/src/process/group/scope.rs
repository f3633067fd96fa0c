//! A scope of the user's systemd, in which control groups can be made.
//!
//! Owns how a runner gets there. On an ordinary login (ssh, a console) processes are in a group of the session, which
//! belongs to root, so that [`Group::create`] makes none. The user's own systemd has groups that it may pass on: asked to,
//! it makes a scope and moves the runner into it, and with it every keeper that is started later. A scope lives as long as
//! a process is in it, so keepers outlive their runner as before.
//!
//! Only for users whose systemd outlives their last logout ("lingering"): for others, what is in a scope is killed ten
//! seconds after that, which processes of a session are not. Rejected was to start the runner through `systemd-run`: when
//! that fails there is no runner, and each start would pay for it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Group, place};
use crate::bounded_wait::BoundedWait;
use crate::process::{Identity, ProcessQuery, ask};

/// How long systemd may take to answer. Without an answer everything goes on without groups.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// How long it may take to move a process after it has said that it will.
const MOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// The systemd of a user, as far as it is known before it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSystemd {
    /// The program that speaks to it.
    pub busctl: PathBuf,
    /// The user's folder for sockets, with that of the message bus.
    pub runtime_dir: PathBuf,
    /// A file that is there if it outlives the last logout.
    pub linger: PathBuf,
}

/// The result of the request for a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeOutcome {
    /// Groups can be made without one.
    NotNeeded,
    /// No systemd could make one and keep it.
    None,
    /// It was asked, and did not do it.
    Refused,
    /// This process is in one.
    Entered,
}

/// Moves this process into a scope in which it may make groups, if it needs one and there can be one.
pub fn enter_scope(systemd: &UserSystemd) -> ScopeOutcome {
    enter(systemd, can_make_groups)
}

fn enter(systemd: &UserSystemd, can_make_groups: impl Fn() -> bool) -> ScopeOutcome {
    let is_there = systemd.linger.exists() && systemd.bus().exists();
    if !is_there {
        return ScopeOutcome::None;
    }
    if can_make_groups() {
        return ScopeOutcome::NotNeeded;
    }
    let me = Identity::current();
    if ask(&systemd.question(&me)).is_err() {
        return ScopeOutcome::Refused;
    }
    let mut patience = BoundedWait::new(MOVE_TIMEOUT, MOVE_TIMEOUT / 10);
    while !can_make_groups() {
        if !patience.pause() {
            return ScopeOutcome::Refused;
        }
    }
    ScopeOutcome::Entered
}

fn can_make_groups() -> bool {
    let name = format!("probe-{}", Identity::current().pid);
    place::own().is_some() && Group::create(&name).is_some_and(|group| group.remove())
}

impl UserSystemd {
    /// Where the systemd of this user is, if it is anywhere.
    pub fn of(user: &OsStr, busctl: PathBuf, runtime_dir: Option<&OsStr>) -> Self {
        let uid = rustix::process::getuid().as_raw();
        let runtime_dir = runtime_dir.map_or_else(|| format!("/run/user/{uid}").into(), PathBuf::from);
        Self { busctl, runtime_dir, linger: Path::new("/var/lib/systemd/linger").join(user) }
    }

    fn bus(&self) -> PathBuf {
        self.runtime_dir.join("bus")
    }

    fn question(&self, process: &Identity) -> ProcessQuery {
        ProcessQuery {
            program: self.busctl.clone(),
            args: arguments(process).into_iter().map(OsString::from).collect(),
            env: vec![("XDG_RUNTIME_DIR".into(), self.runtime_dir.clone().into())],
            cwd: "/".into(),
            patience: ANSWER_TIMEOUT,
        }
    }
}

/// `busctl` takes the signature of a message and its values, one by one.
fn arguments(process: &Identity) -> Vec<String> {
    let manager =
        ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
    let call = ["--user", "--quiet", "call"].into_iter().chain(manager).map(str::to_owned);
    let method = ["StartTransientUnit", "ssa(sv)a(sa(sv))"].map(str::to_owned);
    let unit = [format!("fleet-{}-{}.scope", process.pid, process.start), "fail".to_owned()];
    // Without `Delegate` the groups in it would belong to systemd.
    let properties = [
        "3",
        "Description",
        "s",
        "codefleet runner and its agents",
        "Delegate",
        "b",
        "true",
        "PIDs",
        "au",
        "1",
    ];
    let rest = [process.pid.to_string(), "0".to_owned()];
    call.chain(method).chain(unit).chain(properties.map(str::to_owned)).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_scope_is_asked_for_this_process_alone() {
        let me = Identity { pid: 42, start: 7, boot: String::new() };
        let expected = "--user --quiet call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
            org.freedesktop.systemd1.Manager StartTransientUnit ssa(sv)a(sa(sv)) fleet-42-7.scope fail \
            3 Description s codefleet runner and its agents Delegate b true PIDs au 1 42 0";
        assert_eq!(arguments(&me).join(" "), expected);
    }

    #[test]
    fn where_systemd_is_looked_for() {
        let of = |runtime_dir| UserSystemd::of(OsStr::new("me"), "/usr/bin/busctl".into(), runtime_dir);
        assert_eq!(of(None).linger, Path::new("/var/lib/systemd/linger/me"));
        assert!(of(None).bus().starts_with("/run/user"));
        assert_eq!(of(Some(OsStr::new("/x"))).bus(), Path::new("/x/bus"));
    }

    /// A systemd that does what a script does.
    fn systemd(folder: &Path, script: &str) -> UserSystemd {
        let busctl = folder.join("busctl");
        fs::write(&busctl, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&busctl, fs::Permissions::from_mode(0o755)).unwrap();
        UserSystemd { busctl, runtime_dir: folder.to_owned(), linger: folder.join("linger") }
    }

    #[test]
    fn nobody_is_asked_who_is_not_there_or_would_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (place, asked) = (folder.path(), folder.path().join("asked"));
        let systemd = systemd(place, &format!("touch '{}'", asked.display()));
        assert_eq!(enter_scope(&systemd), ScopeOutcome::None);
        fs::write(place.join("bus"), "").unwrap();
        assert_eq!(enter_scope(&systemd), ScopeOutcome::None, "it ends with the last logout");
        fs::remove_file(place.join("bus")).unwrap();
        fs::write(place.join("linger"), "").unwrap();
        assert_eq!(enter_scope(&systemd), ScopeOutcome::None);
        assert!(!asked.exists());
    }

    /// What becomes of this process where no groups can be made until a file is there, and what the systemd was asked.
    fn entered(script: &str, sign: &str) -> (ScopeOutcome, String) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        for name in ["bus", "linger"] {
            fs::write(place.join(name), "").unwrap();
        }
        let script = format!("cd '{}'; echo \"$XDG_RUNTIME_DIR $*\" > asked; {script}", place.display());
        let scope = enter(&systemd(place, &script), || place.join(sign).exists());
        let asked = fs::read_to_string(place.join("asked")).unwrap_or_default();
        (scope, asked.replace(&place.display().to_string(), "DIR"))
    }

    #[test]
    fn a_process_that_was_moved_is_in_a_scope() {
        let (scope, asked) = entered(": > moved", "moved");
        assert_eq!(scope, ScopeOutcome::Entered);
        let expected = format!("DIR {}\n", arguments(&Identity::current()).join(" "));
        assert_eq!(asked, expected);
    }

    #[test]
    fn nobody_is_asked_for_what_is_there_already() {
        assert_eq!(entered("exit 1", "bus"), (ScopeOutcome::NotNeeded, String::new()));
    }

    #[test]
    fn a_systemd_that_refuses_or_does_nothing_is_no_harm() {
        for script in ["exit 1", "exit 0", "sleep 600"] {
            assert_eq!(entered(script, "moved").0, ScopeOutcome::Refused, "{script}");
        }
    }
}
