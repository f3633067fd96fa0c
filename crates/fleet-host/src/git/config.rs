//! The two settings of a repository that say whether it has a checkout.
//!
//! Git reads them from the repository's own file alone, before and apart from the rest of the configuration, and
//! follows no include there; so a few lines are enough here. Must never grow into a reader of other settings:
//! those depend on files and variables that only `git config` knows.

/// What the file says about the form of its repository.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// `core.bare`, if it is set.
    pub(super) bare: Option<bool>,
    /// `extensions.worktreeConfig`: each checkout has a further file, `config.worktree`.
    pub(super) worktree_config: bool,
}

/// Reads the settings from the bytes of a configuration file. As in git, the last value of a key counts.
pub(super) fn parse(bytes: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(bytes);
    let mut shape = Shape::default();
    let mut section = String::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut line = line.trim();
        // A section's first key may follow on the line of its header.
        if let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            section = name.trim().to_ascii_lowercase();
            line = rest.trim_start();
        }
        let (key, value) = setting(line);
        match (section.as_str(), key.as_str()) {
            ("core", "bare") => shape.bare = Some(value),
            ("extensions", "worktreeconfig") => shape.worktree_config = value,
            _ => {}
        }
    }
    shape
}

/// The lower-case key of a line, and its value as a yes or no. A key that stands alone is a yes.
fn setting(line: &str) -> (String, bool) {
    let line = line.split(['#', ';']).next().unwrap_or_default();
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key, value.trim().trim_matches('"').to_ascii_lowercase()),
        None => (line, "true".to_owned()),
    };
    let yes = match value.as_str() {
        "true" | "yes" | "on" => true,
        number => number.parse().is_ok_and(|number: i64| number != 0),
    };
    (key.trim().to_ascii_lowercase(), yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> Option<bool> {
        parse(text.as_bytes()).bare
    }

    #[test]
    fn reads_what_git_writes() {
        let text =
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tworktreeConfig = true\n";
        assert_eq!(parse(text.as_bytes()), Shape { bare: Some(true), worktree_config: true });
        assert_eq!(parse(b""), Shape::default());
    }

    #[test]
    fn reads_what_people_write() {
        assert_eq!(bare("\u{feff}[Core] Bare = \"Yes\" ; why\r\n"), Some(true));
        assert_eq!(bare("[core]\nbare # alone\n"), Some(true));
        assert_eq!(bare("[core]\nbare = 1\nbare = off\n"), Some(false));
        assert_eq!(bare("[core]\nbare =\n"), Some(false));
    }

    #[test]
    fn other_sections_do_not_count() {
        assert_eq!(
            bare("[core \"x\"]\nbare = true\n[branch \"core\"]\nbare = true\n# [core]\nbare = true\n"),
            None
        );
    }
}
