//! What a task asks of its agent beyond a model: how hard to think, and further arguments.
//!
//! Must never say which arguments are allowed: that is decided where a run starts, because anyone who can add a task
//! can ask for any.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::FieldError;

/// More arguments, or longer ones, are no longer a detail of a task.
const MAX_ARGS: usize = 32;
/// In bytes, all together.
const LONGEST_ARGS: usize = 4_096;
const LONGEST_EFFORT: usize = 32;

/// What a task asks of its agent beyond a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    /// How hard the model should think, in the agent's own words.
    pub effort: Option<String>,
    /// Arguments behind all others.
    pub args: Vec<String>,
}

impl Tuning {
    /// Refuses what no agent could take.
    pub fn check(&self) -> Result<(), FieldError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if let Some(effort) = &self.effort
            && (effort.is_empty()
                || effort.len() > LONGEST_EFFORT
                || !effort.bytes().all(fits)
                || effort.starts_with('-'))
        {
            let why = "one word is expected, such as low, medium, high or max, as the agent takes it";
            return Err(wrong("reasoning_effort", why.to_owned()));
        }
        if self.args.len() > MAX_ARGS {
            return Err(wrong(
                "extra_args",
                format!("{} arguments, at most {MAX_ARGS} are allowed", self.args.len()),
            ));
        }
        if self.args.iter().map(String::len).sum::<usize>() > LONGEST_ARGS {
            return Err(wrong("extra_args", format!("they have more than {LONGEST_ARGS} bytes")));
        }
        if self.args.iter().any(|arg| arg.contains('\0')) {
            return Err(wrong("extra_args", "an argument contains a NUL character".to_owned()));
        }
        Ok(())
    }
}

/// The first argument that is not allowed by these patterns: an option must be one of them, exactly, before a `=`, or
/// by a beginning that ends with `*`; an argument that is not an option must be the value of an allowed one.
pub fn refused_arg<'a>(args: &'a [String], allowed: &[String]) -> Option<&'a str> {
    let mut before_is_option = false;
    for arg in args {
        let is_option = arg.starts_with('-');
        let fits = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => arg.starts_with(beginning),
            None => {
                arg == pattern || arg.strip_prefix(pattern.as_str()).is_some_and(|rest| rest.starts_with('='))
            }
        };
        let is_value = !is_option && before_is_option;
        if !is_value && !allowed.iter().any(fits) {
            return Some(arg);
        }
        before_is_option = is_option;
    }
    None
}

fn wrong(field: &'static str, why: String) -> FieldError {
    FieldError { field, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_no_agent_could_take_is_refused() {
        let effort = |text: &str| Tuning { effort: Some(text.to_owned()), args: Vec::new() };
        let args = |args: &[&str]| Tuning { effort: None, args: texts(args) };
        let many = vec!["x"; 33];
        for bad in [effort(""), effort("-x"), effort("a b"), effort("x\"\ny=1"), args(&many), args(&["\0"])] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
        assert_eq!(args(&[&"x".repeat(4_097)]).check().unwrap_err().field, "extra_args");
    }

    #[test]
    fn arguments_are_allowed_one_by_one() {
        let allowed = texts(&["--max-turns", "--log*"]);
        let refused = |args: &[&str]| refused_arg(&texts(args), &allowed).map(ToOwned::to_owned);
        assert_eq!(refused(&[]), None);
        assert_eq!(refused(&["--max-turns", "5", "--max-turns=7", "--log-level", "x", "--logs"]), None);
        assert_eq!(refused(&["--max-turns-not"]).as_deref(), Some("--max-turns-not"));
        assert_eq!(refused(&["--max-turns", "5", "stray"]).as_deref(), Some("stray"));
        assert_eq!(refused(&["--max-turns", "--yolo"]).as_deref(), Some("--yolo"));
        assert_eq!(refused_arg(&texts(&["anything", "-x"]), &texts(&["*"])), None);
    }
}
