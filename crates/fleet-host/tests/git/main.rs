//! Git as this crate reads it, against the real `git`.

#![expect(clippy::disallowed_methods, reason = "the real git says what is right")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking")]

mod discover;
mod discover_odd;
mod refname;
mod sandbox;
