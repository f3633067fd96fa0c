//! The `fleet` command.

fn main() {}
