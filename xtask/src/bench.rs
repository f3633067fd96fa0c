//! `cargo xtask bench`: builds the release binary and runs the benchmarks, which are a program of their own so that
//! they are built with optimisation, too.

use std::process::ExitCode;

use fleet_testkit::python::Python;

use crate::failure::Failure;
use crate::process;
use crate::python::Packages;
use crate::step::Step;

const PACKAGES: [&str; 4] = ["-p", "codefleet", "-p", "fleet-bench"];

pub(crate) fn run(names: &[String]) -> Result<ExitCode, Failure> {
    let step = Step::begin("build");
    let built = process::run(process::cargo().args(["build", "--release", "--locked"]).args(PACKAGES))?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every crate below the packages that are selected, with the features it is built with.
    fn crates(selection: &[&str]) -> BTreeSet<String> {
        let mut tree = process::cargo();
        tree.args(["tree", "--frozen", "--prefix", "none", "--format", "{p} {f}"]).args(selection);
        let output = tree.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
    }

    #[test]
    fn what_is_run_measured_and_tested_is_built_once() {
        let run = crates(&["--edges", "normal,build"]);
        assert!(run.iter().any(|line| line.starts_with("tokio v")), "{run:?}");
        let measured = crates(&[&PACKAGES[..], &["--edges", "normal,build"]].concat());
        let tested = crates(&["--workspace", "--edges", "normal,build,dev"]);
        for (other, what) in [(measured, "cargo xtask bench"), (tested, "cargo xtask test")] {
            let again: Vec<_> = run.difference(&other).collect();
            assert!(again.is_empty(), "`{what}` wants other features of these than `cargo run`: {again:#?}");
        }
    }
}
