//! Runs: what their keepers, agents and observers do. Every write of a keeper names its attempt: one that froze and
//! came back after its task was given to another finds its run ended, and changes nothing. The columns of attempts are
//! called `fence`.

mod advance;
mod append;
mod close;
mod end;
mod failure;
mod lease;
mod list;
mod read;
mod report;
mod resolve;
pub(super) mod row;
pub(super) mod stop;
pub(super) mod texts;

pub use advance::{AdvanceRun, PrepareRun, Prepared};
pub use append::AppendRunEvents;
pub use close::CloseRun;
pub use end::EndRun;
pub use failure::FailureSettings;
pub use lease::{ExpireLeases, OtherPlaces, RenewLease, Renewed};
pub use list::{ListRuns, ListedRun, RunFilter};
pub use read::{GetRun, LiveRuns, RunDetail};
pub use report::ReportRun;
pub use resolve::ResolveRun;
pub use stop::RequestStop;
