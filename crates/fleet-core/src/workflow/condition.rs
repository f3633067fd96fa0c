//! Conditions: `review.approve == false and implement.files > 0`.
//!
//! A small language on purpose: comparisons of what stages came to, joined by `and`, `or`, `not` and parentheses. It
//! has no functions, no loops and no side effects, so a condition from anywhere can be evaluated anywhere.

mod parse;

use std::cmp::Ordering;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use parse::{Comparison, Expression};

/// The longest condition, in bytes.
const LONGEST_CONDITION: usize = 2_000;

/// A condition that was read once and is known to be well-formed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Condition(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a condition: {why}")]
pub struct ConditionError {
    pub text: String,
    pub why: String,
}

/// A value in a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum ConditionValue {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
}

impl ConditionValue {
    pub fn number(count: usize) -> Self {
        Self::Number(u32::try_from(count).unwrap_or(u32::MAX).into())
    }

    /// Whether it counts as yes: nothing, no, zero and the empty text do not.
    fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(yes) => *yes,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
        }
    }

    /// Which is greater; only numbers and texts have an order.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.partial_cmp(right),
            (Self::Text(left), Self::Text(right)) => Some(left.cmp(right)),
            _ => None,
        }
    }
}

impl TryFrom<String> for Condition {
    type Error = ConditionError;

    fn try_from(text: String) -> Result<Self, ConditionError> {
        let wrong = |why| ConditionError { text: crate::text::shortened(&text, 80).into_owned(), why };
        if text.len() > LONGEST_CONDITION {
            return Err(wrong(format!(
                "it has {} bytes, at most {LONGEST_CONDITION} are allowed",
                text.len()
            )));
        }
        parse::expression(&text).map_err(wrong)?;
        Ok(Self(text))
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.0
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Condition {
    /// The names that it looks up, as they are written: `review.approve`, `params.deep`, `item`.
    pub fn names(&self) -> Vec<&str> {
        parse::names(&self.0)
    }

    /// The stages that it looks at.
    pub fn stages(&self) -> Vec<&str> {
        let stage = |name: &'_ str| name.split_once('.').map(|(stage, _)| stage.len());
        let names = self.names().into_iter();
        names
            .filter_map(|name| stage(name).map(|end| &name[..end]))
            .filter(|stage| *stage != "params")
            .collect()
    }

    /// What is the case when it does not hold, in words where there are plain ones.
    pub fn unmet(&self) -> String {
        let plain = self.0.split_whitespace().collect::<Vec<_>>().join(" ");
        let stage = |end: &str| plain.strip_suffix(end).filter(|stage| !stage.contains([' ', '.', '(']));
        let approve = [".approve == false", ".approve != true"].iter().find_map(|end| stage(end));
        match (approve, stage(".approve").or_else(|| stage(".approve == true"))) {
            (Some(stage), _) => format!("{stage} has no objections"),
            (_, Some(stage)) => format!("{stage} did not approve"),
            _ => format!("condition not met: {}", self.0),
        }
    }

    /// Whether it holds, with these values for its names.
    pub fn holds(&self, value: &dyn Fn(&str) -> ConditionValue) -> bool {
        parse::expression(&self.0).is_ok_and(|expression| evaluate(&expression, value).is_true())
    }
}

fn evaluate(expression: &Expression, value: &dyn Fn(&str) -> ConditionValue) -> ConditionValue {
    match expression {
        Expression::Value(literal) => literal.clone(),
        Expression::Name(name) => value(name),
        Expression::Not(inner) => ConditionValue::Bool(!evaluate(inner, value).is_true()),
        Expression::And(left, right) => {
            ConditionValue::Bool(evaluate(left, value).is_true() && evaluate(right, value).is_true())
        }
        Expression::Or(left, right) => {
            ConditionValue::Bool(evaluate(left, value).is_true() || evaluate(right, value).is_true())
        }
        Expression::Compare(left, how, right) => {
            ConditionValue::Bool(compare(&evaluate(left, value), *how, &evaluate(right, value)))
        }
    }
}

/// What is not known is equal to nothing but what is not known, and neither greater nor smaller than anything.
fn compare(left: &ConditionValue, how: Comparison, right: &ConditionValue) -> bool {
    let is = |wanted: &[Ordering]| left.order(right).is_some_and(|order| wanted.contains(&order));
    match how {
        Comparison::Equal => left == right,
        Comparison::Unequal => left != right,
        Comparison::Less => is(&[Ordering::Less]),
        Comparison::AtMost => is(&[Ordering::Less, Ordering::Equal]),
        Comparison::More => is(&[Ordering::Greater]),
        Comparison::AtLeast => is(&[Ordering::Greater, Ordering::Equal]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_the_case_instead_is_told_in_words() {
        let unmet = |text: &str| Condition::try_from(text.to_owned()).unwrap().unmet();
        assert_eq!(unmet("review.approve == false"), "review has no objections", "also without a verdict");
        assert_eq!(unmet("review.approve"), "review did not approve");
        assert_eq!(unmet("a.files > 0"), "condition not met: a.files > 0");
        let both = "a.ok and review.approve == false";
        assert_eq!(unmet(both), format!("condition not met: {both}"));
    }

    fn holds(text: &str) -> bool {
        Condition::try_from(text.to_owned()).unwrap().holds(&|name| match name {
            "review.approve" => ConditionValue::Bool(false),
            "review.scores.a" => ConditionValue::Number(7.5),
            "impl.files" => ConditionValue::Number(3.0),
            "impl.status" => ConditionValue::Text("completed".to_owned()),
            "params.deep" => ConditionValue::Text("yes".to_owned()),
            _ => ConditionValue::Null,
        })
    }

    #[test]
    fn conditions_say_what_they_mean() {
        for yes in [
            "review.approve == false",
            "not review.approve",
            "impl.files > 2 and impl.files <= 3",
            "review.approve or impl.status == 'completed'",
            "not (review.approve or impl.files == 0)",
            "review.scores.a >= 7.5",
            "params.deep == \"yes\"",
            "nobody.winner == null",
            "true",
        ] {
            assert!(holds(yes), "{yes}");
        }
        for no in [
            "review.approve",
            "nobody.approve",
            "nobody.files > 0",
            "nobody.files < 1",
            "impl.files == '3'",
            "true and false or false",
            "impl.status != 'completed'",
        ] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_reason() {
        let why = |text: &str| Condition::try_from(text.to_owned()).unwrap_err().why;
        assert_eq!(why(""), "it is empty");
        assert_eq!(why("a.ok ="), "\"=\" means nothing here; for equality write ==");
        assert_eq!(why("a.ok and"), "something is missing at its end");
        assert_eq!(why("(a.ok"), "a ) is missing");
        assert_eq!(why("a.ok b.ok"), "\"b.ok\" found where `and`, `or` or a comparison is expected");
        assert_eq!(why("a.x == 'open"), "a quotation mark is missing");
        assert!(why(&"(".repeat(500)).contains("nested too deeply"));
        assert!(why(&"x".repeat(3_000)).contains("at most 2000"));
    }

    #[test]
    fn a_condition_knows_whom_it_looks_at() {
        let condition =
            Condition::try_from("a.ok and (b-2.files > 1 or params.x == 'c.ok')".to_owned()).unwrap();
        assert_eq!(condition.names(), ["a.ok", "b-2.files", "params.x"]);
        assert_eq!(condition.stages(), ["a", "b-2"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}") {
            if let Ok(condition) = Condition::try_from(text) {
                condition.holds(&|_| ConditionValue::Null);
            }
        }

        #[test]
        fn words_of_the_language_never_make_it_panic(
            words in proptest::collection::vec(
                proptest::sample::select(vec!["a.ok", "and", "or", "not", "(", ")", "==", "<", "1", "'x'", "null"]), 0..20,
            )
        ) {
            if let Ok(condition) = Condition::try_from(words.join(" ")) {
                condition.holds(&|_| ConditionValue::Null);
            }
        }
    }
}
