//! Texts with places to fill in.
//!
//! A place is a name in braces: `{branch}`. What is not a known name stays as it is, braces and all, so that code and
//! JSON need no escapes. What is filled in is never looked at again: a title that holds `{branch}` stays a title.

/// Fills the placeholders that `value` knows.
pub fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        let name = inside.find(|c: char| !is_part_of_name(c)).map(|end| &inside[..end]);
        let known = name.filter(|name| inside[name.len()..].starts_with('}'));
        if let Some((name, value)) = known.and_then(|name| Some((name, value(name)?))) {
            out.push_str(value);
            rest = &inside[name.len() + 1..];
        } else {
            out.push('{');
            rest = inside;
        }
    }
    out.push_str(rest);
    out
}

const fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '-'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(template: &str) -> String {
        fill(template, |name| match name {
            "a" => Some("{b}"),
            "b" => Some("two"),
            "empty" => Some(""),
            _ => None,
        })
    }

    #[test]
    fn known_names_are_filled_in_and_all_else_stays() {
        assert_eq!(filled("{a}{b}{empty}."), "{b}two.", "what is filled in is not looked at again");
        assert_eq!(filled("{\"json\": {\"b\": {b}}}"), "{\"json\": {\"b\": two}}");
        assert_eq!(filled("{{b}} {c} { b } {b {b"), "{two} {c} { b } {b {b");
        assert_eq!(filled("${b}{ü}{"), "$two{ü}{");
    }

    proptest! {
        #[test]
        fn a_text_without_known_names_is_not_changed(text in "[{}x ü]{0,40}") {
            prop_assert_eq!(filled(&text), text);
        }
    }
}
