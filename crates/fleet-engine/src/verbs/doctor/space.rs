//! Whether the store, and the disk that everything else is on, take more.

use fleet_core::size::Size;
use fleet_host::disk;

use fleet_api::verbs::doctor::DoctorCheck;

use crate::verbs::prelude::*;

/// Less is used up by a single agent in no time.
const LOW_SPACE_BYTES: u64 = 100_000_000;
const HINT: &str = "free some space: `fleet disk` shows what uses it, `fleet gc` removes what is old";

/// Writes to the store, because only that tells, and asks for the space around it.
pub(super) async fn check(engine: &Engine) -> DoctorCheck {
    if let Err(problem) = probe(engine).await {
        return DoctorCheck::bad("space", problem.hint(HINT));
    }
    let home = engine.home().root();
    // Whole megabytes, or whole gigabytes where there are many.
    let unit = |free: u64| if free < 10_000_000_000 { 1_000_000 } else { 1_000_000_000 };
    let said = |free: u64| format!("{} free at {}", Size(free / unit(free) * unit(free)), home.display());
    match disk::free(home) {
        Some(free) if free < LOW_SPACE_BYTES => {
            DoctorCheck::warning("space", format!("only {}", said(free)), HINT)
        }
        Some(free) => DoctorCheck::good("space", said(free)),
        None => DoctorCheck::good("space", "the store can be written to"),
    }
}

async fn probe(engine: &Engine) -> Outcome<()> {
    let name = format!("probe-{:016x}", clock::entropy()?);
    engine.call(ops::Probe { name, now: clock::now() }).await
}
