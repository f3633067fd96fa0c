//! Freezing all that an agent has started, and letting it run again.
//!
//! The control group freezes its processes at once, those that are about to be born too. What is not in it is stopped with
//! a signal, one process after the other.

use super::{Identity, ProcessTree, Signal};

/// What was frozen. It stays frozen when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct FrozenTree {
    tree: ProcessTree,
    stopped: Vec<Identity>,
}

impl ProcessTree {
    /// Freezes the agent and all that it started. The keeper's own children, which save work, go on.
    pub fn freeze(&self) -> FrozenTree {
        let tree = Self { keeper: None, ..self.clone() };
        if let Some(group) = &tree.group {
            group.set_frozen(true);
        }
        let stopped = tree.stop_members();
        FrozenTree { tree, stopped }
    }
}

impl FrozenTree {
    /// Lets all run that ran before.
    pub fn thaw(self) {
        for process in &self.stopped {
            let _ = process.signal(Signal::CONT);
        }
        if let Some(group) = &self.tree.group {
            group.set_frozen(false);
        }
    }
}
