//! Steps of a command: each says its name when it begins, and its outcome and time when it ends.

use std::time::Instant;

/// A step under way.
pub(crate) struct Step {
    name: &'static str,
    began: Instant,
}

impl Step {
    pub(crate) fn begin(name: &'static str) -> Self {
        println!("== {name}");
        Self { name, began: Instant::now() }
    }

    pub(crate) fn end(self, outcome: &str) {
        println!("== {}: {outcome}, {:.1} s", self.name, self.began.elapsed().as_secs_f64());
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}
