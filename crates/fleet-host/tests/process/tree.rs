//! Hostile trees: whatever an agent's processes do, nobody is left after the stop.
//!
//! Each script is stopped by its keeper, and by somebody else after the keeper was killed; in a control group where
//! one can be made, and without. Who is left is found by what nobody can take off: every process of a script has the
//! script's own tag among its arguments.

mod hostile;
mod peaceful;
mod stage;

pub(crate) use stage::{Orders, keep};
