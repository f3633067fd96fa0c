//! Git as this crate reads and drives it, against the real `git`.

#![expect(clippy::disallowed_methods, reason = "the real git says what is right")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking")]

mod copying;
mod crash;
mod discover;
mod discover_odd;
mod evidence;
mod landed;
mod leftovers;
mod merge;
mod nested;
mod refname;
mod refs;
mod sandbox;
mod snapshot;
mod snapshot_odd;
mod support;
mod untouched;
mod workspace;
mod workspace_kinds;
mod workspace_odd;
