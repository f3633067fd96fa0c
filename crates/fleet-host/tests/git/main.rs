//! Git as this crate reads and drives it, against the real `git`.

#![expect(clippy::disallowed_methods, reason = "the real git says what is right")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking")]

mod agent_repo;
mod attacks;
mod branch_updates;
mod collecting;
mod copying;
mod crash;
mod discover;
mod discover_odd;
mod earlier;
mod ending;
mod evidence;
mod held;
mod hostile;
mod landed;
mod leftovers;
mod merge;
mod mirror;
mod nested;
mod occupied;
mod publish;
mod publish_beside;
mod publish_odd;
mod recycling;
mod refname;
mod refs;
mod sandbox;
mod snapshot;
mod snapshot_odd;
mod support;
mod tidying;
mod unchanged;
mod untouched;
mod vault;
mod workspace;
mod workspace_kinds;
mod workspace_odd;
mod worktrees;
