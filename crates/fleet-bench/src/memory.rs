//! Peak memory of a command: measured by a separate process that has no other child.

use std::process::{Command, ExitCode, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

/// The first argument that makes this program the measuring process.
pub(crate) const INNER: &str = "--peak-memory";

/// Runs a command and prints the peak of its memory in KiB.
pub(crate) fn inner(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let program = arguments.next().expect("a program");
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status().expect("it starts");
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage of children").max_rss();
    // macOS counts bytes, Linux KiB.
    println!("{}", if cfg!(target_os = "macos") { peak / 1_024 } else { peak });
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The peak of the memory of `command`, in MiB.
pub(crate) fn peak_mib(command: &Command) -> f64 {
    let this = std::env::current_exe().expect("this program");
    let mut outer = Command::new(this);
    outer.arg(INNER).arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        outer.current_dir(dir);
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            outer.env(name, value);
        }
    }
    let output = outer.output().expect("it starts");
    let kib: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
    kib / 1_024.0
}
