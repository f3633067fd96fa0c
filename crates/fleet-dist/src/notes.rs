//! Release notes: the section of a version in the changelog.

/// What the changelog says about a version, without the heading; nothing if it has no section, or an empty one.
pub fn notes<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let mut sections = changelog.split("\n## ").skip(1);
    let text = sections.find_map(|section| {
        let (heading, text) = section.split_once('\n')?;
        (heading.split_whitespace().next() == Some(version)).then_some(text)
    })?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\nAbout.\n\n## Unreleased\n\n## 0.2.0 (2027-01-31)\n\n### Added\n- Two.\n\n\
                             ## 0.1.0 (2026-12-24)\n- One.\n";

    #[test]
    fn a_version_has_its_section() {
        assert_eq!(notes(CHANGELOG, "0.2.0"), Some("### Added\n- Two."));
        assert_eq!(notes(CHANGELOG, "0.1.0"), Some("- One."));
    }

    #[test]
    fn no_section_and_an_empty_one_are_no_notes() {
        for version in ["0.3.0", "0.2", "Unreleased", ""] {
            assert_eq!(notes(CHANGELOG, version), None, "{version}");
        }
    }
}
