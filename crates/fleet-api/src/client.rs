//! How verbs are called: in this process, through the door of a run, or on another host.

use std::path::PathBuf;
use std::pin::Pin;

use fleet_core::problem::{Code, Outcome, Problem};
use serde::{Deserialize, Serialize};

use crate::Verb;

/// A call of a verb, as it travels.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    /// The id of the verb.
    pub verb: String,
    /// The directory of the project; where the client is, if left out.
    pub at: Option<PathBuf>,
    /// The request, as JSON.
    pub request: String,
}

/// An answer on its way, as JSON.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Outcome<String>> + Send + 'a>>;

/// Someone who answers questions.
pub trait Client: Send + Sync {
    /// Asks. Use [`call`], which knows the types.
    fn ask(&self, question: Question) -> Answering<'_>;
}

/// Calls a verb. `at` is the directory of the project, if it is not where the client is.
pub async fn call<V: Verb>(client: &dyn Client, at: Option<PathBuf>, request: &V) -> Outcome<V::Answer> {
    let unfit = |error: serde_json::Error| {
        Problem::new(Code::Internal, format!("{}: {error}", V::ID)).hint("`fleet doctor` looks for causes")
    };
    let request = serde_json::to_string(request)
        .map_err(|error| Problem::new(Code::InvalidValue, error.to_string()))?;
    let question = Question { verb: V::ID.to_owned(), at, request };
    let answer = client.ask(question).await?;
    serde_json::from_str(&answer).map_err(unfit)
}
