//! Operations that one process runs for another: keepers send theirs to the runner that started them, where those that
//! wait together share one commit.
//!
//! A request is a line `NUMBER NAME JSON`; its answer is `NUMBER done JSON`, `NUMBER refused JSON`, or `NUMBER direct`,
//! which sends the caller to the store itself. Nothing is answered before it is durable. The other side may end, freeze
//! or be of another version at any moment: then the caller goes to the store itself, with the same operation. So each
//! operation in the [`table`] must be safe to run twice, and safe to run late.

mod client;
mod server;
mod table;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use client::RelayClient;
pub(crate) use server::serve;
