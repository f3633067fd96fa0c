//! The table of verbs: from the id of each to what does it.
//!
//! Owns the one way in: every interface calls verbs here, and the caller is checked here, before the verb looks
//! anything up.

use std::pin::Pin;

use fleet_api::verbs::init_migrate;
use fleet_api::{Answering, Client, Question, Verb};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::trace;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::{self, Rule};
use crate::config::did_you_mean;
use crate::{Engine, verbs};

#[cfg(test)]
mod tests;

/// Answers a request, both as JSON. Boxed, so that what does a verb is compiled here and not in every crate that asks.
type Handler = for<'a> fn(&'a Engine, String) -> Pin<Box<dyn Future<Output = Outcome<String>> + Send + 'a>>;

macro_rules! handlers {
    ($($name:ident),+) => {
        static TABLE: &[(&str, Handler)] = &[$((
            <fleet_api::verbs::$name::Request as Verb>::ID,
            |engine, json| {
                Box::pin(async move {
                    let mut request: fleet_api::verbs::$name::Request = read(&json)?;
                    access::judge(engine, Rule::of(&request), request.subjects()).await?;
                    write(&verbs::$name::run(engine, request).await?)
                })
            },
        )),+];
    };
}

fleet_api::for_each_verb!(handlers);

impl Client for Engine {
    /// Answers, or has the keeper answer, if this is inside a run.
    fn ask(&self, question: Question) -> Answering<'_> {
        Box::pin(async move {
            if let Some(door) = self.door()? {
                return door.ask(question).await;
            }
            let handler = find(&question.verb)?;
            if question.verb != <init_migrate::Request as Verb>::ID {
                self.home().check_ours()?;
            }
            let _span = trace::span(|| question.verb.clone());
            match question.at {
                None => handler(self, question.request).await,
                Some(directory) => handler(&self.at(directory)?, question.request).await,
            }
        })
    }
}

fn find(verb: &str) -> Outcome<Handler> {
    let found = TABLE.iter().find(|(id, _)| *id == verb);
    found.map(|(_, handler)| *handler).ok_or_else(|| {
        let meant = did_you_mean(verb, TABLE.iter().map(|(id, _)| (*id).to_owned()));
        let problem = Problem::field("verb", format!("there is no verb {verb:?}"));
        problem.hint(meant.unwrap_or_else(|| "`fleet verbs` lists them".to_owned()))
    })
}

fn read<T: DeserializeOwned>(json: &str) -> Outcome<T> {
    serde_json::from_str(json).map_err(|error| Problem::new(Code::InvalidValue, format!("request: {error}")))
}

fn write<T: Serialize>(answer: &T) -> Outcome<String> {
    serde_json::to_string(answer).map_err(|error| Problem::new(Code::Internal, error.to_string()))
}
