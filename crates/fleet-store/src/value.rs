//! The few types that both engines agree on: integers, text, nothing.

use fleet_core::{Current, Machine};

use crate::StoreError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    /// Integers, booleans (0 and 1) and milliseconds.
    Int(i64),
    /// Text, JSON included.
    Text(String),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Int(yes.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<fleet_core::time::Millis> for Value {
    fn from(at: fleet_core::time::Millis) -> Self {
        Self::Int(at.0)
    }
}

macro_rules! from_ids {
    ($($type:ident),+) => {$(
        impl From<fleet_core::id::$type> for Value {
            fn from(id: fleet_core::id::$type) -> Self {
                Self::Text(id.as_str().to_owned())
            }
        }
    )+};
}
from_ids!(TaskId, RunId, ProjectId, BatchId, WorkflowId);

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer; columns are taken from the left.
#[derive(Debug, Clone)]
pub struct Row {
    values: std::vec::IntoIter<Value>,
}

impl From<Vec<Value>> for Row {
    fn from(values: Vec<Value>) -> Self {
        Self { values: values.into_iter() }
    }
}

/// A column that does not hold what the code expects: the store was changed from outside, or a defect.
fn unexpected(wanted: &str, found: Option<&Value>) -> StoreError {
    StoreError::Malformed(format!("expected {wanted} in a column, found {found:?}"))
}

impl Row {
    /// The next column, an integer.
    pub fn int(&mut self) -> Result<i64, StoreError> {
        match self.values.next() {
            Some(Value::Int(number)) => Ok(number),
            other => Err(unexpected("an integer", other.as_ref())),
        }
    }

    /// The next column, an integer or nothing.
    pub fn optional_int(&mut self) -> Result<Option<i64>, StoreError> {
        match self.values.next() {
            Some(Value::Int(number)) => Ok(Some(number)),
            Some(Value::Null) => Ok(None),
            other => Err(unexpected("an integer or nothing", other.as_ref())),
        }
    }

    /// The next column, text.
    pub fn text(&mut self) -> Result<String, StoreError> {
        match self.values.next() {
            Some(Value::Text(text)) => Ok(text),
            other => Err(unexpected("text", other.as_ref())),
        }
    }

    /// The next column, text or nothing.
    pub fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.values.next() {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            other => Err(unexpected("text or nothing", other.as_ref())),
        }
    }

    /// The next column, text of a certain form.
    pub fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self) -> Result<T, StoreError> {
        parsed(&self.text()?)
    }

    /// The next column, a state.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads states back")]
    pub fn state<S: Machine>(&mut self) -> Result<Current<S>, StoreError> {
        self.parse().map(Current::stored)
    }

    /// The next column, text of a certain form or nothing.
    pub fn optional_parse<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
    ) -> Result<Option<T>, StoreError> {
        self.optional_text()?.as_deref().map(parsed).transpose()
    }

    /// The next column, JSON.
    pub fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        from_json(&self.text()?)
    }

    /// The next column, JSON or nothing.
    pub fn optional_json<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        self.optional_text()?.as_deref().map(from_json).transpose()
    }
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Malformed(error.to_string()))
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|error: T::Err| StoreError::Malformed(error.to_string()))
}
