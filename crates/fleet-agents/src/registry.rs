//! The agents that there are: those that codefleet knows, and those that the user describes.

use std::sync::Arc;

use crate::adapter::Adapter;

#[derive(Clone)]
pub struct Registry {
    adapters: Vec<Arc<dyn Adapter>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all().map(Adapter::name)).finish()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self { adapters: crate::built_in() }
    }
}

impl Registry {
    /// The known ones and these. One that has the name of another takes its place.
    #[must_use]
    pub fn with(mut self, own: impl IntoIterator<Item = Arc<dyn Adapter>>) -> Self {
        for adapter in own {
            match self.adapters.iter_mut().find(|known| known.name() == adapter.name()) {
                Some(known) => *known = adapter,
                None => self.adapters.push(adapter),
            }
        }
        self
    }

    pub fn all(&self) -> impl Iterator<Item = &dyn Adapter> {
        self.adapters.iter().map(AsRef::as_ref)
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Adapter>> {
        self.adapters.iter().find(|adapter| adapter.name() == name).cloned()
    }

    pub fn find(&self, name: &str) -> Option<&dyn Adapter> {
        self.all().find(|adapter| adapter.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::adapter::{Enforced, Trust};
    use crate::demo::Demo;

    #[test]
    fn agents_are_found_by_names_that_differ() {
        let known = Registry::default();
        let names: BTreeSet<&str> = known.all().map(Adapter::name).collect();
        assert_eq!(names.len(), known.all().count());
        // The demo agent comes last: it is not what people look for.
        assert_eq!(known.all().last().map(Adapter::name), Some("demo"));
        for name in names {
            assert_eq!(known.find(name).map(Adapter::name), Some(name));
        }
        assert!(known.find("nobody").is_none());
        for about in known.all().map(Adapter::about) {
            // Nothing keeps an agent that may do everything.
            assert_eq!(about.enforced(Trust::Full), Enforced::Nothing, "{}", about.title);
        }
        let again = known.clone().with([Arc::new(Demo) as Arc<dyn Adapter>]);
        assert_eq!(again.all().count(), known.all().count());
    }
}
