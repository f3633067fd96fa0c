//! What `fleet demo` and its agent do to processes and folders: commands reach the host only through here.

use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::process::Signal;

use crate::runner::registry;
use crate::{Engine, problems};

pub use fleet_host::demo::{Inheritance, commit, ignore, leave_behind, leave_session, run_self, signal_self};

/// A process that was killed is gone at once, unless the machine is very busy.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Kills the runner as the kernel does when memory runs out. Returns its process id.
pub fn kill_runner(engine: &Engine) -> Outcome<i32> {
    let home = engine.home();
    let up = registry::up(home)?;
    let runner = up.first().ok_or_else(|| Problem::new(Code::Internal, "there is no runner to kill"))?;
    let killed = runner.process.signal(Signal::KILL).and_then(|_| runner.process.wait_for_end(MAX_WAIT));
    killed.map_err(problems::at(&home.runners()))?;
    Ok(runner.process.pid)
}
