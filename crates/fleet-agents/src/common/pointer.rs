//! Looking into JSON from an agent: every question has an answer, whatever is in it.

use serde_json::Value;

/// The text at a JSON pointer.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The number at a JSON pointer; fractions are cut off, and what is no number or below zero is none.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    let number = value.pointer(pointer)?;
    number.as_u64().or_else(|| number.as_f64().and_then(whole))
}

/// An amount of US dollars in millionths.
pub(crate) fn micro_usd(dollars: f64) -> Option<u64> {
    whole((dollars * 1e6).round())
}

/// The whole part of a number, if it is one that a counter could have.
fn whole(number: f64) -> Option<u64> {
    /// Where every whole number still has a float of its own.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    if !(0.0..=LARGEST).contains(&number) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the line above keeps it within u64"
    )]
    Some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_nothing() {
        let value = json!({ "a": { "n": 3, "f": 2.9, "s": "x", "neg": -1, "inf": 1e300, "list": [1] } });
        assert_eq!(text(&value, "/a/s"), Some("x"));
        assert_eq!(text(&value, "/a/n"), None);
        assert_eq!(number(&value, "/a/n"), Some(3));
        assert_eq!(number(&value, "/a/f"), Some(2));
        assert_eq!(number(&value, "/a/list/0"), Some(1));
        for none in ["/a/s", "/a/neg", "/a/inf", "/b/c", "/a/list/9"] {
            assert_eq!(number(&value, none), None, "{none}");
        }
        assert_eq!(micro_usd(0.005_763_9), Some(5_764));
        assert_eq!(micro_usd(-1.0), None);
        assert_eq!(micro_usd(f64::NAN), None);
    }
}
