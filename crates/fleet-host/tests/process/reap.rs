//! A subreaper: what it adopts it reaps, and what others wait for it leaves to them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use fleet_host::process::{Exit, Identity, Launch, StdinFrom, become_subreaper, launch, new_session, reap};
use fleet_testkit::wait_until;

use crate::BOUND;
use crate::actor::{Actor, Part, announce};

pub(crate) fn play(folder: &Path) {
    new_session().unwrap();
    assert!(new_session().is_err(), "it leads one already");
    assert!(become_subreaper());
    let orphan = folder.join("orphan");
    // The shell ends at once, and with it the parent of the second one, which ends by itself.
    let script = "sh -c 'echo $$ >\"$0\"; exit 5' \"$0\" & exit 3";
    let started = launch(&Launch {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into(), orphan.clone().into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        stdin: StdinFrom::Null,
    })
    .unwrap();
    let mut ended = Vec::new();
    thread::scope(|scope| {
        let others = scope.spawn(others_wait_for_their_children);
        wait_until(BOUND, "both have ended", || {
            ended.extend(reap());
            ended.len() >= 2 && others.is_finished()
        });
        others.join().unwrap();
    });
    let adopted: i32 = fs::read_to_string(&orphan).unwrap().trim().parse().unwrap();
    ended.sort_by_key(|(pid, _)| *pid == adopted);
    assert_eq!(ended, [(started.identity.pid, Exit::Code(3)), (adopted, Exit::Code(5))]);
    assert_eq!(Identity::of(adopted), None, "nothing is left of it");
    announce(&folder.join("done"), "");
}

/// Starts children and waits for them in the ordinary way, some of them a while after their end.
fn others_wait_for_their_children() {
    for round in 0..100 {
        let mut child = Command::new("true").spawn().unwrap();
        if round % 50 == 0 {
            thread::sleep(Duration::from_millis(1500));
        }
        assert!(child.wait().expect("nobody else has waited for it").success());
    }
}

#[test]
fn children_of_all_kinds() {
    let folder = tempfile::tempdir().unwrap();
    Actor::start(&Part::Reap { folder: folder.path().to_owned() }).succeed();
    assert!(folder.path().join("done").exists());
}
