//! `cargo xtask test`: the one command that says whether the project is in order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use fleet_testkit::postgres::{Options, SERVER_VARIABLE, Server};
use fleet_testkit::python::Python;

use crate::agents::Agents;
use crate::counts::{CountReader, Counts, TestRunner};
use crate::failure::Failure;
use crate::process::{self, cargo};
use crate::python::Packages;
use crate::step::Step;
use crate::tools;

pub(crate) fn run(filters: &[String]) -> Result<ExitCode, Failure> {
    if let Some(option) = filters.iter().find(|filter| filter.starts_with('-')) {
        return Err(Failure::Usage(format!("`test` takes no option `{option}`")));
    }
    tools::ensure()?;
    tools::ensure_shells();
    let mut report = TestReport::default();
    // Whoever asks for a few tests wants their result, and soon.
    if filters.is_empty() {
        check(&mut report)?;
    }
    let agents = Agents::ensure();
    if agents.is_failure() {
        report.broken.push("agents");
    }
    let packages = Python::ALL.map(Packages::ensure);
    if packages.iter().any(Packages::is_failure) {
        report.broken.push("python");
    }
    let database = Database::start()?;
    let offered = Offered { database: &database, agents: &agents, packages: &packages };
    run_tests(filters, &offered, &mut report)?;
    run_doc_tests(filters, &database, &mut report)?;
    database.stop();
    Ok(report.finish())
}

/// Over every file: `cargo fmt` does not find modules that a macro declares.
fn rustfmt() -> Result<Command, Failure> {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]);
    for folder in ["crates", "xtask"] {
        rustfmt.args(sources(Path::new(folder))?);
    }
    Ok(rustfmt)
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |source| Failure::Process { program: "rustfmt".to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Goes on after a failure: anyone who has to fix something wants to know all of it.
fn check(report: &mut TestReport) -> Result<(), Failure> {
    report.check("format", rustfmt()?.arg("--check"))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    report.check("lints", cargo().args(clippy))?;
    if process::succeeds(cargo().args(["deny", "--version"])) {
        report.check("dependencies", cargo().args(["deny", "check"]))
    } else {
        Step::begin("dependencies").end("skipped (cargo-deny is not installed)");
        Ok(())
    }
}

/// What the tests find there.
struct Offered<'a> {
    database: &'a Database,
    agents: &'a Agents,
    packages: &'a [Packages],
}

fn run_tests(filters: &[String], offered: &Offered<'_>, report: &mut TestReport) -> Result<(), Failure> {
    let nextest = process::succeeds(cargo().args(["nextest", "--version"]));
    let runner = if nextest { TestRunner::Nextest } else { TestRunner::Libtest };
    let mut command = cargo();
    match runner {
        // An empty run is not yet a failure: the filters may be meant for documentation.
        TestRunner::Nextest => {
            command.args(["nextest", "run", "--workspace", "--locked", "--no-tests=pass"]).args(filters)
        }
        TestRunner::Libtest => {
            let kinds = ["--lib", "--bins", "--tests", "--examples"];
            command
                .args(["test", "--workspace", "--locked", "--no-fail-fast"])
                .args(kinds)
                .arg("--")
                .args(filters)
        }
    };
    offered.database.offer_to(&mut command);
    offered.agents.offer_to(&mut command);
    offered.packages.iter().for_each(|packages| packages.offer_to(&mut command));
    let counts = report.tests("tests", runner, &mut command)?;
    // Nextest counts what the filters leave out as skipped, which would hide what is really skipped among so
    // many.
    let skipped = if nextest && !filters.is_empty() { 0 } else { counts.skipped };
    report.counts += Counts { skipped, ..counts };
    Ok(())
}

fn run_doc_tests(filters: &[String], database: &Database, report: &mut TestReport) -> Result<(), Failure> {
    let mut command = cargo();
    command.args(["test", "--doc", "--workspace", "--locked", "--no-fail-fast", "--"]).args(filters);
    database.offer_to(&mut command);
    let counts = report.tests("documentation tests", TestRunner::Libtest, &mut command)?;
    report.counts += counts;
    Ok(())
}

/// The database server that all tests share.
enum Database {
    /// Whoever started us named one.
    Given,
    Own(Server),
}

impl Database {
    fn start() -> Result<Self, Failure> {
        let step = Step::begin("database");
        if std::env::var_os(SERVER_VARIABLE).is_some_and(|url| !url.is_empty()) {
            step.end(&format!("given by {SERVER_VARIABLE}"));
            return Ok(Self::Given);
        }
        let server = Server::launch(&Options::default())?;
        step.end("ok");
        Ok(Self::Own(server))
    }

    fn offer_to(&self, command: &mut Command) {
        if let Self::Own(server) = self {
            command.env(SERVER_VARIABLE, server.url());
        }
    }

    fn stop(self) {
        if let Self::Own(server) = self {
            let step = Step::begin("database stop");
            drop(server);
            step.end("ok");
        }
    }
}

/// What came out of the steps.
#[derive(Debug, Default)]
struct TestReport {
    counts: Counts,
    /// Steps that failed for another reason than a failed test.
    broken: Vec<&'static str>,
}

impl TestReport {
    fn check(&mut self, name: &'static str, command: &mut Command) -> Result<(), Failure> {
        let step = Step::begin(name);
        let ok = process::run(command)?;
        self.end(step, ok, Counts::default());
        Ok(())
    }

    fn tests(
        &mut self,
        name: &'static str,
        runner: TestRunner,
        command: &mut Command,
    ) -> Result<Counts, Failure> {
        let step = Step::begin(name);
        let mut reader = CountReader::new(runner);
        let ok = process::watch(command, |line| reader.line(line))?;
        self.end(step, ok, reader.counts());
        Ok(reader.counts())
    }

    fn end(&mut self, step: Step, ok: bool, counts: Counts) {
        if !ok && counts.failed == 0 {
            self.broken.push(step.name());
        }
        step.end(if ok { "ok" } else { "FAILED" });
    }

    /// Says what is wrong, then the line of numbers, alone and last.
    fn finish(self) -> ExitCode {
        if !self.broken.is_empty() {
            println!("failed: {}", self.broken.join(", "));
        }
        let total = self.total();
        if total.passed + total.failed == 0 {
            println!("no test ran");
        }
        println!("{total}");
        if is_success(total) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// With a failure for each broken step: a line that says "0 failed" must mean that all is well.
    fn total(&self) -> Counts {
        let broken = u64::try_from(self.broken.len()).unwrap_or(u64::MAX);
        Counts { failed: self.counts.failed + broken, ..self.counts }
    }
}

/// No test at all is no success: a misspelt filter must not look like one.
fn is_success(total: Counts) -> bool {
    total.failed == 0 && total.passed > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = process::command("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_broken_check_is_a_failure() {
        let mut report = TestReport::default();
        report.check("good", &mut shell("exit 0")).unwrap();
        report.check("bad", &mut shell("exit 1")).unwrap();
        assert_eq!(report.broken, ["bad"]);
        assert_eq!(report.total().failed, 1);
    }

    #[test]
    fn tests_that_do_not_compile_are_one_failure() {
        let mut report = TestReport::default();
        let counts =
            report.tests("tests", TestRunner::Nextest, &mut shell("echo error >&2; exit 101")).unwrap();
        assert_eq!(counts, Counts::default());
        assert_eq!(report.total().failed, 1);
    }

    #[test]
    fn failed_tests_are_counted_once() {
        let mut report = TestReport::default();
        let summary = "echo 'Summary [ 1s] 3 tests run: 1 passed, 2 failed, 0 skipped' >&2; exit 100";
        let counts = report.tests("tests", TestRunner::Nextest, &mut shell(summary)).unwrap();
        report.counts += counts;
        assert_eq!(report.total(), Counts { passed: 1, failed: 2, skipped: 0 });
    }

    #[test]
    fn success_needs_a_test_that_passed() {
        assert!(is_success(Counts { passed: 1, failed: 0, skipped: 3 }));
        assert!(!is_success(Counts { passed: 9, failed: 1, skipped: 0 }));
        assert!(!is_success(Counts { passed: 0, failed: 0, skipped: 3 }));
    }

    #[test]
    fn options_are_refused() {
        assert!(matches!(run(&["--all".to_owned()]), Err(Failure::Usage(_))));
    }
}
