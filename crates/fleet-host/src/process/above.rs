//! Who started this process.

use rustix::process::getpid;

use super::Identity;
use super::table;

/// The processes above this one, as they were at one time.
///
/// A process can forget its environment and leave its session, but not its parents: what loses its parent becomes a child
/// of the keeper where there are subreapers (Linux), and of the first process elsewhere.
#[derive(Debug, Clone)]
pub struct Above {
    /// The nearest first.
    line: Vec<Identity>,
}

impl Above {
    /// Looks once.
    pub fn look() -> Self {
        let line = table::above(getpid().as_raw_pid());
        Self { line: line.iter().map(Identity::from_entry).collect() }
    }

    /// How near a process is, if it is above this one: 0 is the parent.
    pub fn distance(&self, process: &Identity) -> Option<usize> {
        self.line.iter().position(|above| above == process)
    }

    /// What the nearest process that carries this variable has in it.
    pub fn carried(&self, name: &str) -> Option<String> {
        let found = table::marked(name, &mut self.line.iter().map(|above| above.pid));
        let value = |above: &Identity| found.iter().find(|(pid, _)| *pid == above.pid);
        self.line.iter().find_map(value).map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_nearest_and_nobody_is_above_himself() {
        let above = Above::look();
        let me = Identity::current();
        assert_eq!(above.distance(&me), None);
        if let Some(parent) = above.line.first() {
            assert_eq!(above.distance(parent), Some(0));
            let another = Identity { start: parent.start + 1, ..parent.clone() };
            assert_eq!(above.distance(&another), None, "a number alone is nobody");
        }
        assert_eq!(above.carried("NOBODY_CARRIES_THIS"), None);
    }
}
