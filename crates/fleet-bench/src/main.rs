//! Benchmarks, run by `cargo xtask bench`: each figure is a ratio to a baseline that is measured in the same run,
//! so that a slow or busy machine slows both.
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts processes, reads the clock and talks to databases by hand"
)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers' terminals")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    reason = "counts of a few millions are exact in every type"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot measure stops at once")]

mod claims;
mod commands;
mod events;
mod mcp;
mod memory;
mod report;
mod runs;
mod scale;
mod seed;
mod timing;

use std::path::PathBuf;
use std::process::ExitCode;

use report::{BenchReport, ReportRow};

pub(crate) struct BenchSetting {
    /// The release binary.
    pub(crate) fleet: PathBuf,
    /// The larger of the two sizes of the scale benchmark.
    pub(crate) many: usize,
}

type Bench = fn(&BenchSetting) -> Vec<ReportRow>;

const BENCHES: &[(&str, Bench)] = &[
    ("commands", commands::run),
    ("runs-dispatch", runs::dispatch),
    ("runs-no-ops", runs::no_ops),
    ("agents-live", runs::live),
    ("terminals", runs::terminals),
    ("runs-big", runs::big),
    ("runs-end", runs::end),
    ("mcp-start", mcp::start),
    ("mcp-workers", mcp::workers),
    ("mcp-workflows", mcp::workflows),
    ("mcp-many", mcp::many),
    ("claims-sqlite", claims::sqlite),
    ("claims-postgres", claims::postgres),
    ("events-sqlite", events::sqlite),
    ("events-postgres", events::postgres),
    ("scale-sqlite", scale::sqlite),
    ("scale-postgres", scale::postgres),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(first) = arguments.next() else {
        eprintln!("usage: fleet-bench FLEET_BINARY [NAME…]; use `cargo xtask bench`");
        return ExitCode::from(2);
    };
    if first == memory::INNER {
        return memory::inner(arguments);
    }
    let names: Vec<String> = arguments.collect();
    if let Some(unknown) =
        names.iter().find(|name| !BENCHES.iter().any(|(known, _)| known.contains(name.as_str())))
    {
        let known: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no benchmark {unknown:?}; there are: {}", known.join(", "));
        return ExitCode::from(2);
    }
    let setting = BenchSetting { fleet: first.into(), many: 1_000_000 };
    let mut report = BenchReport::default();
    for (name, bench) in BENCHES {
        if names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())) {
            eprintln!("== {name}");
            report.add(name, bench(&setting));
        }
    }
    println!("{}", report.table());
    let path = report.write();
    eprintln!("written to {}", path.display());
    ExitCode::SUCCESS
}
