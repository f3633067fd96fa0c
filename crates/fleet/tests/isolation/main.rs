//! What an agent can do to its user through git, and what the user's own git can do to agents: the built binary, real git,
//! real runners and keepers, agents that are shell scripts.

#![expect(clippy::disallowed_methods, reason = "processes are started here")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod attacks;
mod beside;
mod folder;
mod left;
mod stage;
mod unchanged;
