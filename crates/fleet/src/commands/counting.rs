//! A sign of life while many files are looked at.

use std::future::Future;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Nobody wonders before this.
const SOON: Duration = Duration::from_secs(1);

/// Waits for something that counts the files it looks at, and shows the count on a terminal from the first second on.
pub(crate) async fn counting<T>(seen: &Arc<AtomicU64>, work: impl Future<Output = T>) -> T {
    let is_shown = std::io::stderr().is_terminal();
    let mut work = std::pin::pin!(work);
    let mut told = false;
    loop {
        tokio::select! {
            done = &mut work => {
                if told {
                    let _ = write!(anstream::stderr(), "\r\x1b[K");
                }
                return done;
            }
            () = tokio::time::sleep(SOON), if is_shown => {
                told = true;
                let _ = write!(anstream::stderr(), "\rlooked at {} files…", seen.load(Ordering::Relaxed));
            }
        }
    }
}
