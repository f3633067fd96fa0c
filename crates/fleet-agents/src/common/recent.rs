//! What is remembered of things that are under way, each under its id.

use std::collections::VecDeque;

use super::words;

/// The latest of them. An agent that never ends what it began must not fill the memory, so that the oldest are
/// forgotten.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    most: usize,
    all: VecDeque<(String, T)>,
}

impl<T> Recent<T> {
    /// Remembers at most this many.
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, all: VecDeque::new() }
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.position(id).is_some()
    }

    /// The entry with this id, made if it is missing.
    pub(crate) fn entry(&mut self, id: &str, make: impl FnOnce() -> T) -> &mut T {
        let at = self.position(id).unwrap_or_else(|| {
            self.add(id, make());
            self.all.len() - 1
        });
        &mut self.all[at].1
    }

    pub(crate) fn add(&mut self, id: &str, thing: T) {
        if self.all.len() >= self.most {
            self.all.pop_front();
        }
        self.all.push_back((words::id(id), thing));
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        let at = self.position(id)?;
        self.all.remove(at).map(|(_, thing)| thing)
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    fn position(&self, id: &str) -> Option<usize> {
        let id = words::id(id);
        self.all.iter().position(|(known, _)| *known == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut recent = Recent::new(2);
        for (id, thing) in [("a", 1), ("b", 2), ("c", 3)] {
            recent.add(id, thing);
        }
        assert_eq!((recent.remove("a"), *recent.entry("b", || 9)), (None, 2));
        assert_eq!((recent.remove("c"), recent.remove("c")), (Some(3), None));
        recent.clear();
        assert!(!recent.contains("b"));
        assert_eq!(*recent.entry("b", || 9), 9);
    }

    #[test]
    fn an_id_without_end_is_still_found() {
        let mut recent = Recent::new(1);
        let long = "x".repeat(1_000_000);
        recent.add(&long, ());
        assert!(recent.all[0].0.len() < 1_000);
        assert_eq!(recent.remove(&long), Some(()));
    }
}
