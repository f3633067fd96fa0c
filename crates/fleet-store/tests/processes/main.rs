//! The store under fire: many real processes on one store, killed, frozen and cut off at any moment.
//!
//! Owns the workers (this executable, started again with a role on its command line, so that it is always
//! built and never an old one) and what must hold after whatever happened to them. What an operation does is
//! not its business: the story tests hold that.

#![expect(clippy::disallowed_methods, reason = "starts and kills processes, by the real clock")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests panic")]
#![expect(clippy::print_stdout, reason = "how much was survived is worth reading")]

mod crew;
mod crowd;
mod evidence;
mod first_open;
mod frozen;
mod kill;
mod place;
mod server;
mod stopped;
mod verdict;
mod wake;
mod wal;
mod worker;

/// Runs something that waits for the store.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
