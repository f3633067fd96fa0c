//! Runs: how long until an agent works, what a run costs beside git's own work, and what people wait for.

mod big;
mod dispatch;
mod end;
mod live;
mod no_ops;
mod rig;
mod terminals;

pub(crate) use big::run as big;
pub(crate) use dispatch::run as dispatch;
pub(crate) use end::run as end;
pub(crate) use live::run as live;
pub(crate) use no_ops::run as no_ops;
pub(crate) use terminals::run as terminals;
