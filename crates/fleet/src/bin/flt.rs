//! The `flt` command.

fn main() {}
