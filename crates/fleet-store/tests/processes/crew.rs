//! The processes of a test. Each is ended with the test, however that ends.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use fleet_testkit::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;
use crate::worker::{self, ENTRY, Orders, Role};

/// One process.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) role: Role,
    child: Child,
    complaints: PathBuf,
}

impl Member {
    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Ends it without a chance to do anything about it; false if it had ended already.
    pub(crate) fn kill(&mut self) -> bool {
        self.child.kill().unwrap();
        self.child.wait().unwrap().signal() == Some(Signal::KILL.as_raw())
    }

    /// Stops it where it is.
    pub(crate) fn freeze(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    #[track_caller]
    pub(crate) fn assert_no_complaint(&mut self) {
        let said = fs::read_to_string(&self.complaints).unwrap();
        assert!(said.is_empty(), "{} said: {said}", self.name);
        if let Some(status) = self.ended().filter(|status| status.signal() != Some(Signal::KILL.as_raw())) {
            assert!(status.success(), "{} ended with {status}", self.name);
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Whoever has ended already cannot be killed, and is only waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How the workers of a test are started.
pub(crate) struct Crew<'a> {
    place: &'a Place,
    pub(crate) lease: Duration,
    pub(crate) patient: bool,
    pub(crate) members: Vec<Member>,
    started: usize,
}

impl<'a> Crew<'a> {
    pub(crate) fn at(place: &'a Place) -> Self {
        Self { place, lease: Duration::from_mins(1), patient: false, members: Vec::new(), started: 0 }
    }

    /// Starts one more.
    pub(crate) fn start(&mut self, role: Role) -> &mut Member {
        self.started += 1;
        let word = format!("{role:?}").to_lowercase();
        let word = word.split('(').next().unwrap();
        let name = format!("{word}-{:04}", self.started);
        let folder = self.place.folder().to_owned();
        let complaints = folder.join(&name).with_extension("stderr");
        let orders = Orders {
            url: self.place.url.clone(),
            role: role.clone(),
            folder,
            name: name.clone(),
            lease: self.lease,
            patient: self.patient,
        };
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", ENTRY, "--nocapture"])
            .arg(serde_json::to_string(&orders).unwrap())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&complaints).unwrap())
            .spawn()
            .unwrap();
        self.members.push(Member { name, role, child, complaints });
        self.members.last_mut().unwrap()
    }

    pub(crate) fn signal(&self, signal: worker::Signal) {
        signal.give(self.place.folder());
    }

    /// Waits until everybody whom `which` chooses has ended, and well.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, bound: Duration, what: &str, which: impl Fn(&Role) -> bool) {
        wait_until(bound, what, || {
            let mut all = true;
            for member in self.members.iter_mut().filter(|member| which(&member.role)) {
                let ended = member.ended();
                if ended.is_some_and(|status| !status.success()) {
                    member.assert_no_complaint();
                }
                all &= ended.is_some();
            }
            all
        });
    }

    /// Forgets those who have ended, and well.
    #[track_caller]
    pub(crate) fn dismiss_ended(&mut self) {
        self.members.retain_mut(|member| {
            let ended = member.ended().is_some();
            if ended {
                member.assert_no_complaint();
            }
            !ended
        });
    }

    /// Nobody said anything, and whoever has ended did so well.
    #[track_caller]
    pub(crate) fn assert_no_complaints(&mut self) {
        for member in &mut self.members {
            member.assert_no_complaint();
        }
    }
}
