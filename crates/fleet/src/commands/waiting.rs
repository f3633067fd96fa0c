//! A sign of life while many files are looked at.

use std::future::Future;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Nobody wonders before this.
const NOTICE_DELAY: Duration = Duration::from_secs(1);

/// Waits for something that looks at many files, and says so on a terminal from the first second on.
pub(crate) async fn waiting<T>(work: impl Future<Output = T>) -> T {
    let is_shown = std::io::stderr().is_terminal();
    let mut work = std::pin::pin!(work);
    let mut seconds = 0;
    loop {
        tokio::select! {
            done = &mut work => {
                if seconds > 0 {
                    let _ = write!(anstream::stderr(), "\r\x1b[K");
                }
                return done;
            }
            () = tokio::time::sleep(NOTICE_DELAY), if is_shown => {
                seconds += 1;
                let _ = write!(anstream::stderr(), "\rlooking at the files… {seconds} s");
            }
        }
    }
}
