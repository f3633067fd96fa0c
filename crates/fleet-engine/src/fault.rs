//! Points at which a test can hold a process, to kill it there or to let it come back late.
//!
//! Nothing happens unless `FLEET_TEST_HOLD` names the point: then the first process of this home that comes to it
//! says so in a file and stays there. It costs a look at one variable.

use std::fs::OpenOptions;
use std::time::Duration;

use crate::Engine;

/// Holds the process here if a test asks for it.
pub(crate) async fn point(engine: &Engine, name: &str) {
    if !is_held_here(engine, name) {
        return;
    }
    // Until the test removes the file, or the process is killed.
    let file = engine.home().root().join(format!("held-at-{name}"));
    while file.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// One process only: a retry must not be held as well.
fn is_held_here(engine: &Engine, name: &str) -> bool {
    if engine.environment().get_os("FLEET_TEST_HOLD").is_none_or(|wanted| wanted != name) {
        return false;
    }
    let once = engine.home().root().join(format!("came-to-{name}"));
    let is_first = OpenOptions::new().write(true).create_new(true).open(once).is_ok();
    is_first
        && std::fs::write(
            engine.home().root().join(format!("held-at-{name}")),
            std::process::id().to_string(),
        )
        .is_ok()
}
