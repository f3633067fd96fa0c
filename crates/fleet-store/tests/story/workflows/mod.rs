//! Workflows: what follows from the end of a stage, whoever ends it and however many do so at once.

mod acts;
mod again;
mod cancel;
mod course;
mod list;
mod order;
mod races;
mod random;
mod tasks;
