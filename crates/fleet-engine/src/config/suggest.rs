//! Which name was probably meant.

/// The candidate that is nearest to what was given, when one is near enough to be worth saying.
///
/// A candidate that ends with what was given counts too: people write `priority` for `tasks.priority`.
pub fn nearest(given: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    let limit = (given.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, String)> = None;
    for candidate in candidates {
        let far =
            if ends_with_segment(&candidate, given) { limit } else { distance(given, &candidate, limit) };
        if far <= limit && best.as_ref().is_none_or(|(least, _)| far < *least) {
            best = Some((far, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The same as a question, for the hints of a problem.
pub fn did_you_mean(given: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    nearest(given, candidates).map(|meant| format!("did you mean `{meant}`?"))
}

fn ends_with_segment(candidate: &str, given: &str) -> bool {
    candidate.strip_suffix(given).is_some_and(|rest| rest.ends_with(['.', '_']))
}

/// The edit distance of two names: insertions, deletions, replacements and swaps of neighbours.
///
/// Names whose lengths differ by more than the limit are not measured: a file can hold very long ones.
fn distance(left: &str, right: &str, limit: usize) -> usize {
    if left.chars().count().abs_diff(right.chars().count()) > limit {
        return usize::MAX;
    }
    strsim::osa_distance(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (left, right, far) in [
            ("", "", 0),
            ("color", "color", 0),
            ("colour", "color", 1),
            ("modle", "model", 1),
            ("ab", "cd", 2),
        ] {
            assert_eq!(distance(left, right, 9), far, "{left} {right}");
            assert_eq!(distance(right, left, 9), far, "{right} {left}");
        }
        assert_eq!(distance("a", "abcdef", 3), usize::MAX);
    }

    #[test]
    fn only_near_names_are_suggested() {
        let names = || ["store", "tasks.priority", "tasks.retries"].into_iter().map(str::to_owned);
        assert_eq!(nearest("stroe", names()).as_deref(), Some("store"));
        assert_eq!(nearest("task.priority", names()).as_deref(), Some("tasks.priority"));
        assert_eq!(nearest("retries", names()).as_deref(), Some("tasks.retries"));
        assert_eq!(nearest("banana", names()), None);
        assert_eq!(nearest("", names()), None);
    }
}
