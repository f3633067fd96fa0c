//! Set-up and checks of the project, as `cargo xtask COMMAND`. This file only chooses the command.
#![expect(
    clippy::disallowed_methods,
    reason = "starting tools, timing them and reading the developer's environment is what this program is for"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers' terminals, without a library"
)]

mod agents;
mod bench;
mod counts;
mod dist;
mod failure;
mod install;
mod process;
mod python;
mod staging;
mod step;
mod test;
mod tools;

use std::env;
use std::process::ExitCode;

use failure::Failure;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  test [FILTER…]   Install what is missing, check format, lints and dependencies, run every test on a private
                   PostgreSQL server. With FILTER, run only the tests whose name contains one of them.
                   The last line says how many passed and failed; a check that fails counts as one failure.
  agents           Install the agents that the tests run, from npm into target/agents, unless they are there.
                   `test` does that too; without npm, the tests that need them are skipped, except in CI.
  python           Install the Python packages that tests and benchmarks use, into target/python,
                   target/python-original and target/python-uv, unless they are there. `test` and `bench` do that too, each what it needs.
  bench [NAME…]    Build for release and measure: a table on standard output, JSON in target/bench.json. With NAME,
                   only the benchmarks whose name contains one of them.
  install [DIR]    Build for release and install `fleet`, with the links `flt` and `codefleet` beside it, into DIR/bin,
                   or to where `cargo install` puts programs.
  dist             Build for release and write every package for this platform into target/dist: an archive, a wheel,
                   npm packages, and a Debian package where there is Debian. `--target TARGET` builds for another one
                   that runs on this machine, such as x86_64-unknown-linux-musl; `--binary FILE` packs a binary that
                   has been built.
  formula URL      Print a Homebrew formula for the packages in target/dist, as releases of the repository at URL.
  release-notes [VERSION]
                   Print what the changelog says about a version: this one, unless another is named.
  help             Print this.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    dispatch(&arguments).unwrap_or_else(|failure| {
        eprintln!("xtask: {failure}");
        failure.exit_code()
    })
}

fn dispatch(arguments: &[String]) -> Result<ExitCode, Failure> {
    let (command, rest) =
        arguments.split_first().map_or(("help", arguments), |(first, rest)| (first.as_str(), rest));
    match command {
        "test" => test::run(rest),
        "agents" => agents::run(rest),
        "python" => python::run(rest),
        "bench" => bench::run(rest),
        "install" => install::run(rest),
        "dist" => dist::run(rest),
        "formula" => dist::formula(rest),
        "release-notes" => dist::notes(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        unknown => Err(Failure::Usage(format!("there is no command `{unknown}`"))),
    }
}
