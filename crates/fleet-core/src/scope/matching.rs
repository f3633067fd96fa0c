//! Whether a pattern covers a given path. Deliberately shares nothing with the overlap search: the tests hold
//! one against the other.

use super::chars::CharSet;
use super::pattern::{ComponentPattern, Glob, PatternPart};

/// A path below the repository root, by component; at least one.
pub(super) struct RepoPath {
    names: Vec<Vec<char>>,
}

impl RepoPath {
    /// `None` for what cannot be the path of a file in the repository.
    pub(super) fn parse(path: &str) -> Option<Self> {
        if path.starts_with('/') || path.contains('\0') {
            return None;
        }
        let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.is_empty() || names.contains(&"..") {
            return None;
        }
        Some(Self { names: names.into_iter().map(|name| name.chars().collect()).collect() })
    }

    /// Whether the pattern matches the path or a directory above it.
    pub(super) fn is_covered_by(&self, glob: &Glob) -> bool {
        (0..=self.names.len()).any(|depth| {
            fits(glob.parts(), &self.names[..depth], &|name, chars: &Vec<char>| name_fits(name, chars))
        })
    }
}

fn name_fits(name: &ComponentPattern, chars: &[char]) -> bool {
    fits(name, chars, &|set: &CharSet, c: &char| set.contains(*c))
}

/// Whether the parts match all the items. Only the latest run is ever tried again with one item more: what an
/// earlier run could take in its place the latest can take as well, so the cost is at most the product.
fn fits<P, I>(parts: &[PatternPart<P>], items: &[I], one_fits: &impl Fn(&P, &I) -> bool) -> bool {
    let (mut part, mut item) = (0, 0);
    let mut latest_run = None;
    while item < items.len() {
        match parts.get(part) {
            Some(PatternPart::Run) => {
                part += 1;
                latest_run = Some((part, item));
            }
            Some(PatternPart::One(one)) if one_fits(one, &items[item]) => {
                part += 1;
                item += 1;
            }
            _ => {
                let Some((after_run, taken)) = latest_run else { return false };
                part = after_run;
                item = taken + 1;
                latest_run = Some((part, item));
            }
        }
    }
    parts[part..].iter().all(|rest| matches!(rest, PatternPart::Run))
}
