//! The identity of a place: one home on one machine.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a home is, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HomeLocation {
    /// The number that the system gave the machine when it was set up. Clones of a machine share it.
    pub machine: String,
    /// The addresses of its network cards. Clones of a machine have others.
    pub cards: BTreeSet<String>,
    /// The name of the machine.
    pub host: String,
    /// The number of the home's folder in its file system: stays when it is moved, and a copy has another.
    pub folder: u64,
}

impl HomeLocation {
    /// Whether both are the same place. Network cards come and go, so one known card is enough; machines without any,
    /// such as containers, are distinguished by name.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        let is_same_machine = if self.cards.is_empty() || other.cards.is_empty() {
            self.host == other.host
        } else {
            !self.cards.is_disjoint(&other.cards)
        };
        self.machine == other.machine && self.folder == other.folder && is_same_machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cards: &[&str], host: &str) -> HomeLocation {
        let cards = cards.iter().map(|card| (*card).to_owned()).collect();
        HomeLocation { machine: "0123456789ab".to_owned(), cards, host: host.to_owned(), folder: 7 }
    }

    #[test]
    fn a_clone_is_another_place_and_a_laptop_that_travels_is_not() {
        let home = at(&["aa"], "desk");
        assert!(home.is_same_place(&at(&["aa"], "cafe")), "another name from another network");
        assert!(home.is_same_place(&at(&["aa", "bb"], "desk")), "a dock");
        assert!(home.is_same_place(&at(&[], "desk")), "its card was taken out");
        assert!(!home.is_same_place(&at(&["cc"], "desk")), "a clone");
        assert!(at(&[], "c1").is_same_place(&at(&[], "c1")), "a container that is started again");
        assert!(!at(&[], "c1").is_same_place(&at(&[], "c2")), "another container of the same image");
    }

    #[test]
    fn a_copy_of_a_home_is_another_place() {
        let home = at(&["aa"], "desk");
        assert!(!home.is_same_place(&HomeLocation { folder: 8, ..home.clone() }));
        assert!(!home.is_same_place(&HomeLocation { machine: "ba9876543210".to_owned(), ..home.clone() }));
    }
}
