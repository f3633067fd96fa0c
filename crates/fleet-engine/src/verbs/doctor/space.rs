//! Whether the store, and the disk that everything else is on, take more.

use fleet_core::problem::Outcome;
use fleet_core::size::Size;
use fleet_host::disk;
use fleet_store::ops;

use crate::{Engine, clock};
use fleet_api::verbs::doctor::Check;

/// Less is used up by a single agent in no time.
const LITTLE: u64 = 100_000_000;
const HINT: &str = "free some space: `fleet disk` shows what uses it, `fleet gc` removes what is old";

/// Writes to the store, because only that tells, and asks for the space around it.
pub(super) async fn check(engine: &Engine) -> Check {
    if let Err(problem) = probe(engine).await {
        return Check::bad("space", problem.hint(HINT));
    }
    let home = engine.home();
    let said = |free: u64| format!("{} free at {}", Size(free / 1_000_000 * 1_000_000), home.display());
    match disk::free(home) {
        Some(free) if free < LITTLE => Check::warning("space", format!("only {}", said(free)), HINT),
        Some(free) => Check::good("space", said(free)),
        None => Check::good("space", "the store can be written to"),
    }
}

async fn probe(engine: &Engine) -> Outcome<()> {
    let name = format!("probe-{:016x}", clock::entropy()?);
    engine.call(ops::Probe { name, now: clock::now() }).await
}
