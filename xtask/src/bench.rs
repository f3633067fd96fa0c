//! `cargo xtask bench`: builds the release binary and runs the benchmarks, which are a program of their own so that
//! they are built with optimisation, too.

use std::process::ExitCode;

use fleet_testkit::python::Python;

use crate::failure::Failure;
use crate::process;
use crate::python::Packages;
use crate::step::Step;

pub(crate) fn run(names: &[String]) -> Result<ExitCode, Failure> {
    let step = Step::begin("build");
    let built = process::run(process::cargo().args([
        "build",
        "--release",
        "--locked",
        "-p",
        "codefleet",
        "-p",
        "fleet-bench",
    ]))?;
    step.end(if built { "done" } else { "failed" });
    if !built {
        return Ok(ExitCode::FAILURE);
    }
    // Beside it ours is measured in these.
    if names.is_empty() || names.iter().any(|name| name.starts_with("mcp")) {
        Packages::ensure(Python::Original);
    }
    let target = process::target_directory();
    let fleet = target.join("release").join("fleet");
    let mut bench = process::command(target.join("release").join("fleet-bench"));
    let ran = process::run(bench.arg(fleet).args(names))?;
    Ok(if ran { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
