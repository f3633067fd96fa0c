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
    /// Looks once. The leader of the session counts as the farthest: where there are no subreapers, only the session tells
    /// where a process comes from that has lost its parent.
    pub fn look() -> Self {
        let line = table::above(getpid().as_raw_pid());
        let mut line: Vec<Identity> = line.iter().map(Identity::from_entry).collect();
        // Everybody descends from the first process.
        let me = getpid().as_raw_pid();
        // Not by getsid: in a PID namespace whose session began outside, the leader has the number 0 there.
        let leader = table::one(me).map(|entry| entry.session).filter(|leader| *leader > 1 && *leader != me);
        let leader = leader.and_then(Identity::of);
        line.extend(leader.filter(|leader| !line.contains(leader)));
        Self { line }
    }

    /// How near a process is, if it is above this one: 0 is the parent.
    pub fn distance(&self, process: &Identity) -> Option<usize> {
        self.line.iter().position(|above| above == process)
    }

    /// What the farthest process that carries this variable has in it: a nearer one may be somebody's invention.
    pub fn carried(&self, name: &str) -> Option<String> {
        let found = table::marked(name, &mut self.line.iter().map(|above| above.pid));
        let value = |above: &Identity| found.iter().find(|(pid, _)| *pid == above.pid);
        self.line.iter().rev().find_map(value).map(|(_, value)| String::from_utf8_lossy(value).into_owned())
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
