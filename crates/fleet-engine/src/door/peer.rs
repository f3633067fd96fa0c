//! Who has come to the door.

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::process::{Ancestors, Identity};
use rustix::process::geteuid;
use tokio::net::UnixStream;

use crate::keeper::blocking;

/// Whose door it is.
#[derive(Debug, Clone)]
pub(crate) struct DoorOwner {
    /// The process above everything in the run.
    pub(crate) keeper: Identity,
}

impl DoorOwner {
    /// Refuses processes that are not inside the run. The kernel says who has connected; other runs of the same user
    /// can reach the socket, and are refused here.
    pub(super) async fn admit(&self, stream: &UnixStream) -> Outcome<()> {
        let Ok(peer) = stream.peer_cred() else { return Err(not_of_this_run()) };
        let Some(pid) = peer.pid().filter(|pid| *pid > 0 && peer.uid() == geteuid().as_raw()) else {
            return Err(not_of_this_run());
        };
        let keeper = self.keeper.clone();
        // Where there is no `/proc`, a program has to be asked.
        let is_below = blocking(move || Ancestors::of(pid).distance(&keeper).is_some()).await?;
        if is_below { Ok(()) } else { Err(not_of_this_run()) }
    }
}

fn not_of_this_run() -> Problem {
    Problem::new(Code::NotYours, "this is the door of another run")
        .hint("call `fleet` inside the run, without changing FLEET_DOOR")
}
