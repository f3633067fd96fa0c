//! What was asked of the server, for tests to look at.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use serde_json::Value;

use super::talk::Talk;
use super::wire::Protocol;

/// A request as a test sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// How long after the server's start it came.
    pub at: Duration,
    /// GET, POST and the like.
    pub method: String,
    /// What follows the base address, with the query.
    pub path: String,
    /// Which protocol it was; none for what is no question to a model, such as a list of models.
    pub protocol: Option<Protocol>,
    /// Whether it came with a key, a token or the like. The secret itself is not kept.
    pub authorised: bool,
    /// What it said, in any protocol.
    pub talk: Talk,
    /// The body; null where there was none, or none in JSON.
    pub body: Value,
}

/// Enough for every test; an agent that asks for ever must not fill the memory.
const KEPT: usize = 400;

/// All requests, the latest [`KEPT`] of them, and how many questions each run has asked.
#[derive(Debug, Default)]
pub(super) struct Record {
    requests: VecDeque<(String, Request)>,
    counts: HashMap<String, u32>,
}

impl Record {
    /// Keeps a request. Returns how many questions of its main loop the run has asked so far.
    pub(super) fn add(&mut self, run: &str, request: Request) -> u32 {
        let count = self.counts.entry(run.to_owned()).or_default();
        if request.protocol.is_some() && request.talk.is_main() {
            *count += 1;
        }
        let count = *count;
        if self.requests.len() == KEPT {
            self.requests.pop_front();
        }
        self.requests.push_back((run.to_owned(), request));
        count
    }

    pub(super) fn of(&self, run: &str) -> Vec<Request> {
        let of_run = self.requests.iter().filter(|(known, _)| known == run);
        of_run.map(|(_, request)| request.clone()).collect()
    }
}
