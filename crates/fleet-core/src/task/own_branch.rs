//! The branch of a task that names none: made from its id, and reserved for it.

use crate::id::TaskId;

const FOLDER: &str = "fleet";

/// The branch of a task that names none.
pub fn own_branch(task: TaskId) -> String {
    format!("{FOLDER}/{task}")
}

/// The task for which a branch is reserved, whether it is there or not: one that is called so, or one below that name, which
/// would keep git from making it. Some file systems do not tell cases apart.
pub fn owner_of_branch(branch: &str) -> Option<TaskId> {
    let lower = branch.to_ascii_lowercase();
    let mut words = lower.split('/');
    let is_ours = words.next() == Some(FOLDER);
    words.next().filter(|_| is_ours)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::IdMaker;
    use crate::time::Millis;

    #[test]
    fn the_name_that_is_made_from_an_id_is_reserved_for_it() {
        let task: TaskId = IdMaker::default().next(Millis(1_800_000_000_000), 5);
        let own = own_branch(task);
        for taken in [own.clone(), format!("{own}/more"), own.to_ascii_uppercase()] {
            assert_eq!(owner_of_branch(&taken), Some(task), "{taken}");
        }
        for free in ["fleet", "fleet/login", &task.to_string(), &format!("x/{own}"), &format!("{own}x")] {
            assert_eq!(owner_of_branch(free), None, "{free}");
        }
    }
}
