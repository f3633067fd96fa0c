//! A process that the demo agent leaves behind.

use std::fs;
use std::io;
use std::thread;

use fleet_agents::demo::{Child, ChildBehaviour};
use fleet_engine::demo::{self, Inheritance};

pub(super) fn start(child: &Child) -> io::Result<u32> {
    let inheritance = Inheritance {
        environment: !child.is(ChildBehaviour::ClearEnv),
        streams: !child.is(ChildBehaviour::Quiet),
    };
    demo::leave_behind(&["demo-agent", "--child", &child.to_string()], inheritance)
}

pub(super) fn live(child: Child) -> io::Result<()> {
    if child.is(ChildBehaviour::Double) {
        return start(&child.orphan()).map(|_| ());
    }
    if child.is(ChildBehaviour::Session) {
        demo::leave_session()?;
    }
    if child.is(ChildBehaviour::Ignore) {
        for signal in ["SIGTERM", "SIGINT", "SIGHUP"] {
            demo::ignore(signal)?;
        }
    }
    if let Some(file) = &child.pid_file {
        // Whoever sees the file can read all of it.
        let unfinished = format!("{file}.new");
        fs::write(&unfinished, std::process::id().to_string())?;
        fs::rename(unfinished, file)?;
    }
    thread::sleep(child.lasts);
    Ok(())
}
